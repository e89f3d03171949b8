// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_file.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
namespace {

// The bytes of a literal, which may contain NUL.
template <size_t kSize>
constexpr absl::string_view Bytes(const char (&literal)[kSize]) {
  return {literal, kSize - 1};
}

// Reads up to `size` bytes; fewer only at the end of the file.
absl::StatusOr<size_t> ReadFully(int descriptor, char* buffer, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t more = ::read(descriptor, buffer + done, size - done);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return absl::ErrnoToStatus(errno, "cannot be read");
    if (more == 0) break;
    done += static_cast<size_t>(more);
  }
  return done;
}

// The bytes of a file, unchanged. Its first bytes have been read already: a pipe does not give them again.
class PlainFile final : public TraceFile {
 public:
  PlainFile(Descriptor descriptor, std::string start) : descriptor_(std::move(descriptor)), start_(std::move(start)) {}

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    const size_t known = std::min(start_.size(), buffer.size());
    std::memcpy(buffer.data(), start_.data(), known);
    start_.erase(0, known);
    SIDEBAND_ASSIGN_OR_RETURN(const size_t more,
                              ReadFully(descriptor_.get(), buffer.data() + known, buffer.size() - known));
    return known + more;
  }

 private:
  const Descriptor descriptor_;
  std::string start_;  // not returned yet
};

// RFC 8878, section 3.1: a frame, or a skippable frame, with which pzstd begins. Of the latter any low four bits do.
bool IsZstd(absl::string_view start) {
  constexpr absl::string_view kSkippableEnd = Bytes("\x2a\x4d\x18");
  const bool is_skippable = start.size() > 3 && (start[0] & 0xf0) == 0x50 && start.substr(1, 3) == kSkippableEnd;
  return is_skippable || absl::StartsWith(start, Bytes("\x28\xb5\x2f\xfd"));
}

// A block of type 0 with 329 bytes (GTKWave's fstapi.h); or, of a file that is compressed as a whole, a block of type
// 254 with gzip data behind two sizes.
bool IsFst(absl::string_view start, absl::string_view path) {
  if (absl::StartsWith(start, Bytes("\0\0\0\0\0\0\0\x01\x49"))) return true;
  if (!absl::StartsWith(start, Bytes("\xfe"))) return false;
  return absl::EndsWith(path, ".fst") || (start.size() > 18 && start.substr(17, 2) == Bytes("\x1f\x8b"));
}

// Formats that are not read.
struct ForeignFormat {
  absl::string_view start;
  absl::string_view what;  // the end of "this is …"
};
constexpr ForeignFormat kForeignFormats[] = {
    {Bytes("\xfd\x37zXZ\0"), "an xz file: unpack it (xz -dc), also into a pipe"},
    {Bytes("BZh"), "a bzip2 file: unpack it (bzip2 -dc), also into a pipe"},
    {Bytes("\x04\x22\x4d\x18"), "an lz4 file: unpack it (lz4 -dc), also into a pipe"},
    {Bytes("PK\x03\x04"), "a zip file: unpack it (unzip -p), also into a pipe"},
    {Bytes("GHDLwave\n"), "a GHW file of GHDL: write VCD (--vcd=FILE) or FST (--fst=FILE) instead"},
    {Bytes("\x13\x80\0"), "an LXT2 file of GTKWave: convert it with lxt2vcd"},
    {Bytes("\x01\x38\0"), "an LXT file of GTKWave: write VCD or FST instead"},
    {Bytes("VZ\0"), "a VZT file of GTKWave: convert it with vzt2vcd"},
};
// Enough for every format.
constexpr size_t kStartSize = 19;

absl::Status RefuseForeign(absl::string_view start, const std::string& path) {
  for (const ForeignFormat& format : kForeignFormats) {
    if (absl::StartsWith(start, format.start)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": this is ", format.what));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteFully(int descriptor, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(descriptor, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return absl::ErrnoToStatus(errno, "cannot be copied to a temporary file");
    bytes.remove_prefix(static_cast<size_t>(size));
  }
  return absl::OkStatus();
}

// A copy of the rest of a file, which has no name.
absl::StatusOr<Descriptor> CopyToTemporary(TraceFile& file) {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = absl::StrCat(folder != nullptr && *folder != '\0' ? folder : "/tmp", "/sideband-XXXXXX");
  Descriptor copy(::mkostemp(path.data(), O_CLOEXEC));
  if (!copy.is_open()) return ErrnoStatus(errno, path);
  ::unlink(path.c_str());
  std::vector<char> buffer(size_t{1} << 18);
  for (size_t size = buffer.size(); size == buffer.size();) {
    SIDEBAND_ASSIGN_OR_RETURN(size, file.Read(buffer));
    SIDEBAND_RETURN_IF_ERROR(WriteFully(copy.get(), {buffer.data(), size}));
  }
  return copy;
}

// fst2vcd needs random access.
absl::StatusOr<std::unique_ptr<TraceFile>> OpenFst(Descriptor descriptor, std::string start, const std::string& path) {
  struct stat status {};
  const bool is_file = ::fstat(descriptor.get(), &status) == 0 && S_ISREG(status.st_mode);
  if (is_file) return FstFile::Open(path, std::move(descriptor));
  PlainFile pipe(std::move(descriptor), std::move(start));
  auto copy = CopyToTemporary(pipe);
  if (!copy.ok()) return absl::Status(copy.status().code(), absl::StrCat(path, ": ", copy.status().message()));
  return FstFile::Open(path, *std::move(copy));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceFile>> OpenTraceFile(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.is_open()) return ErrnoStatus(errno, path);
  std::string start(kStartSize, '\0');
  // A file that cannot be read, such as a folder, fails again at the first Read, whose error has its place.
  start.resize(ReadFully(descriptor.get(), start.data(), start.size()).value_or(size_t{0}));
  SIDEBAND_RETURN_IF_ERROR(RefuseForeign(start, path));
  if (IsFst(start, path)) return OpenFst(std::move(descriptor), std::move(start), path);
  const bool is_zstd = IsZstd(start);
  const bool is_gzip = absl::StartsWith(start, Bytes("\x1f\x8b"));
  auto file = std::make_unique<PlainFile>(std::move(descriptor), std::move(start));
  if (is_zstd) return ZstFile::Take(std::move(file));
  if (is_gzip) return GzFile::Take(std::move(file));
  return file;
}

namespace {

constexpr char kProgram[] = "fst2vcd";

// A message keeps so many bytes of the program's error output.
constexpr size_t kRemarkBytesMax = 200;

// A pipe. Its writing end must be closed here once the program has it: otherwise the pipe would have a writer left when
// the program ends, and reads would never see its end.
struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

absl::StatusOr<Pipe> OpenPipe(int flags) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC | flags) != 0) return absl::ErrnoToStatus(errno, "cannot open a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// The program's files and signals.
class SpawnSettings {
 public:
  // `input` is open or not.
  SpawnSettings(const Descriptor& input, const Descriptor& output, const Descriptor& errors)
      : has_input_(input.is_open()) {
    posix_spawn_file_actions_init(&files_);
    if (has_input_) {
      posix_spawn_file_actions_adddup2(&files_, input.get(), STDIN_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    posix_spawn_file_actions_adddup2(&files_, output.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, errors.get(), STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    // This process may ignore SIGPIPE; the program must end when its output is closed.
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // 0, or an errno.
  int Spawn(std::string path, pid_t* program) const {
    if (has_input_) path = "/proc/self/fd/0";
    std::string name = kProgram, flag = "-f";
    char* const arguments[] = {name.data(), flag.data(), path.data(), nullptr};
    return posix_spawnp(program, kProgram, &files_, &attributes_, arguments, environ);
  }

 private:
  const bool has_input_;
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

absl::Status CannotRun(const std::string& path, int error) {
  if (error == ENOENT) {
    return absl::NotFoundError(absl::StrCat(path, ": an FST file is read through the program ", kProgram,
                                            ", which is not installed (Debian's package gtkwave)"));
  }
  return ErrnoStatus(error, kProgram);
}

// The program's error output so far, on one line.
std::string Remarks(const Descriptor& errors) {
  std::array<char, kRemarkBytesMax> bytes;
  const ssize_t size = ::read(errors.get(), bytes.data(), bytes.size());
  const absl::string_view text(bytes.data(), size < 0 ? 0 : static_cast<size_t>(size));
  return absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar("\r\n"), absl::SkipWhitespace()), "; ");
}

absl::Status Failure(const Descriptor& errors) {
  const std::string remarks = Remarks(errors);
  return absl::InvalidArgumentError(absl::StrCat(kProgram,
                                                 " does not read the FST data to its end; it may be damaged or cut off",
                                                 remarks.empty() ? "" : ": ", remarks));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceFile>> FstFile::Open(const std::string& path, Descriptor input) {
  SIDEBAND_ASSIGN_OR_RETURN(Pipe output, OpenPipe(0));
  // The program must not wait for a reader of its errors.
  SIDEBAND_ASSIGN_OR_RETURN(Pipe errors, OpenPipe(O_NONBLOCK));
  pid_t program = 0;
  const int error = SpawnSettings(input, output.writing, errors.writing).Spawn(path, &program);
  if (error != 0) return CannotRun(path, error);
  return std::unique_ptr<TraceFile>(new FstFile(program, std::move(output.reading), std::move(errors.reading)));
}

FstFile::~FstFile() {
  output_ = {};
  if (program_ == 0) return;
  // The destructor must not wait for the conversion of the rest.
  ::kill(program_, SIGTERM);
  (void)End();
}

absl::StatusOr<size_t> FstFile::Read(std::span<char> buffer) {
  size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t more = ::read(output_.get(), buffer.data() + size, buffer.size() - size);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return absl::ErrnoToStatus(errno, "cannot be read");
    if (more == 0) {
      SIDEBAND_RETURN_IF_ERROR(End());
      break;
    }
    size += static_cast<size_t>(more);
  }
  return size;
}

absl::Status FstFile::End() {
  const pid_t program = std::exchange(program_, 0);
  if (program == 0) return ended_;
  int status = 0;
  while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ended_ = Failure(errors_);
  return ended_;
}

namespace {

constexpr size_t kPackedBytes = size_t{1} << 16;
// The largest window, and a gzip header.
constexpr int kWindow = MAX_WBITS + 16;

absl::Status UnpackError(int code, const char* message) {
  if (code == Z_MEM_ERROR) return absl::ResourceExhaustedError("no memory to unpack the gzip data");
  return absl::InvalidArgumentError(
      absl::StrCat("the gzip data is damaged: ", message == nullptr ? "it needs a dictionary" : message));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceFile>> GzFile::Take(std::unique_ptr<TraceFile> packed) {
  auto file = std::unique_ptr<GzFile>(new GzFile(std::move(packed)));
  if (inflateInit2(&file->stream_, kWindow) != Z_OK) return UnpackError(Z_MEM_ERROR, nullptr);
  return file;
}

GzFile::GzFile(std::unique_ptr<TraceFile> packed) : packed_(std::move(packed)), buffer_(kPackedBytes) {}

GzFile::~GzFile() { inflateEnd(&stream_); }

absl::StatusOr<size_t> GzFile::Read(std::span<char> buffer) {
  stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
  stream_.avail_out = static_cast<uInt>(buffer.size());
  while (stream_.avail_out > 0 && !at_end_) SIDEBAND_RETURN_IF_ERROR(Unpack());
  return buffer.size() - stream_.avail_out;
}

absl::Status GzFile::Unpack() {
  if (stream_.avail_in == 0) {
    SIDEBAND_ASSIGN_OR_RETURN(const bool has_more, Refill());
    if (!has_more) return absl::InvalidArgumentError("the gzip data is cut off");
  }
  const int code = inflate(&stream_, Z_NO_FLUSH);
  if (code == Z_OK) return absl::OkStatus();
  if (code != Z_STREAM_END) return UnpackError(code, stream_.msg);
  SIDEBAND_ASSIGN_OR_RETURN(const bool has_member, FindMember());
  at_end_ = !has_member;
  inflateReset(&stream_);
  return absl::OkStatus();
}

absl::StatusOr<bool> GzFile::FindMember() {
  if (stream_.avail_in == 0) {
    SIDEBAND_ASSIGN_OR_RETURN(const bool has_more, Refill());
    if (!has_more) return false;
  }
  // The first byte of a member; padding is of NUL bytes.
  return *stream_.next_in == 0x1f;
}

absl::StatusOr<bool> GzFile::Refill() {
  SIDEBAND_ASSIGN_OR_RETURN(const size_t size, packed_->Read(buffer_));
  stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
  stream_.avail_in = static_cast<uInt>(size);
  return size > 0;
}

absl::StatusOr<std::unique_ptr<TraceFile>> ZstFile::Take(std::unique_ptr<TraceFile> packed) {
  auto file = std::unique_ptr<ZstFile>(new ZstFile(std::move(packed)));
  if (file->stream_ == nullptr) return absl::ResourceExhaustedError("no memory to unpack zstd data");
  return file;
}

ZstFile::ZstFile(std::unique_ptr<TraceFile> packed)
    : packed_(std::move(packed)),
      stream_(ZSTD_createDStream()),
      buffer_(ZSTD_DStreamInSize()),
      input_{.src = buffer_.data(), .size = 0, .pos = 0} {}

absl::StatusOr<size_t> ZstFile::Read(std::span<char> buffer) {
  ZSTD_outBuffer out{.dst = buffer.data(), .size = buffer.size(), .pos = 0};
  while (out.pos < out.size) {
    const size_t before = out.pos;
    SIDEBAND_RETURN_IF_ERROR(Unpack(out));
    // The stream may hold decompressed data although input_ is used up.
    if (out.pos > before || input_.pos < input_.size) continue;
    SIDEBAND_ASSIGN_OR_RETURN(const bool has_more, Refill());
    if (has_more) continue;
    if (is_within_frame_) return absl::InvalidArgumentError("the zstd data is cut off");
    break;
  }
  return out.pos;
}

absl::Status ZstFile::Unpack(ZSTD_outBuffer& out) {
  // Between frames and without input there is nothing to decompress.
  if (input_.pos == input_.size && !is_within_frame_) return absl::OkStatus();
  const size_t wanted = ZSTD_decompressStream(stream_.get(), &out, &input_);
  if (ZSTD_isError(wanted) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("the zstd data is damaged: ", ZSTD_getErrorName(wanted)));
  }
  is_within_frame_ = wanted != 0;
  return absl::OkStatus();
}

absl::StatusOr<bool> ZstFile::Refill() {
  SIDEBAND_ASSIGN_OR_RETURN(const size_t size, packed_->Read(buffer_));
  input_ = {.src = buffer_.data(), .size = size, .pos = 0};
  return size > 0;
}

}  // namespace sideband::sim

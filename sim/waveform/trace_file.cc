// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/descriptor.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "sim/waveform/fst_file.h"
#include "sim/waveform/gz_file.h"
#include "sim/waveform/zst_file.h"

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
  // What cannot be read, such as a folder, fails again at the first Read, whose error has its place.
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

}  // namespace sideband::sim

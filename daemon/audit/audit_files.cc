// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/audit_files.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/audit/chain.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr mode_t kMode = 0600;
constexpr char kLineStart[] = "{\"sequence\":";

absl::StatusOr<uint64_t> SizeOfRegularFile(int fd, const std::string& path) {
  struct stat file;
  if (::fstat(fd, &file) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(file.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  return static_cast<uint64_t>(file.st_size);
}

absl::Status WriteAll(int fd, absl::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(fd, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return ErrnoStatus(errno, path);
    bytes.remove_prefix(static_cast<size_t>(size));
  }
  return absl::OkStatus();
}

// Makes the names in the file's folder survive a power failure. A file system without support for this is no error.
void SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open()) ::fsync(opened.get());
}

// A file that has only an unfinished line must at least begin like an entry. Any other file was named by mistake and
// stays unchanged.
bool MayBeUnfinishedLine(absl::string_view text) {
  const absl::string_view start = kLineStart;
  return absl::StartsWith(text, start.substr(0, text.size()));
}

// The end of the chain in a file of `size` bytes.
absl::StatusOr<AuditFiles::ChainEnd> EndOf(int fd, uint64_t size, const std::string& path) {
  // Large enough for the last whole line, its break and an unfinished line.
  const uint64_t window = std::min<uint64_t>(size, 2 * (kAuditLineBytesMax + 1));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string tail, ReadAt(fd, size - window, window, path));
  const size_t last_break = tail.rfind('\n');
  if (last_break == std::string::npos) {
    if (window == size && MayBeUnfinishedLine(tail)) return AuditFiles::ChainEnd{.bytes_cut_off = size};
    return absl::InvalidArgumentError(absl::StrCat(path, ": not an audit log"));
  }
  const size_t line_start = last_break == 0 ? 0 : tail.rfind('\n', last_break - 1) + 1;  // npos + 1 is 0
  const absl::string_view line = absl::string_view(tail).substr(line_start, last_break - line_start);
  const auto last = DecodeAuditLine(line);
  if (last.ok()) return AuditFiles::ChainEnd{last->entry.sequence, AuditHash(line), tail.size() - last_break - 1};
  return absl::InvalidArgumentError(absl::StrCat(path, ": the last entry cannot be continued: ",
                                                 last.status().message(), "; move the file away to begin a new log"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<AuditFiles>> AuditFiles::Open(Options options) {
  std::unique_ptr<AuditFiles> files(new AuditFiles(std::move(options)));
  SIDEBAND_RETURN_IF_ERROR(files->OpenFile());
  SIDEBAND_RETURN_IF_ERROR(files->FindEnd());
  SIDEBAND_RETURN_IF_ERROR(files->RestrictToOwner());
  return files;
}

AuditFiles::~AuditFiles() = default;

std::string AuditFiles::Name(size_t number) const {
  return number == 0 ? options_.path : absl::StrCat(options_.path, ".", number);
}

absl::Status AuditFiles::OpenFile() {
  const std::string& path = options_.path;
  // A symbolic link could turn the log's bytes and its mode against another file.
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kMode));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t size, SizeOfRegularFile(file.get(), path));
  // The kernel releases the lock with the process, however that ends: a killed daemon leaves none behind.
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": another process writes this audit log"));
  }
  SyncFolderOf(path);
  file_ = std::move(file);
  absl::MutexLock lock(&mu_);
  size_ = size;
  return absl::OkStatus();
}

absl::Status AuditFiles::RestrictToOwner() {
  return ::fchmod(file_.get(), kMode) == 0 ? absl::OkStatus() : ErrnoStatus(errno, options_.path);
}

absl::Status AuditFiles::FindEnd() {
  absl::MutexLock lock(&mu_);
  if (size_ > 0) {
    SIDEBAND_ASSIGN_OR_RETURN(end_, EndOf(file_.get(), size_, Name(0)));
    size_ -= end_.bytes_cut_off;
    is_torn_ = end_.bytes_cut_off > 0;
  }
  if (size_ > 0) return absl::OkStatus();
  // The current file is empty, so the chain ended in the previous file, if there is one.
  const Descriptor older(::open(Name(1).c_str(), O_RDONLY | O_CLOEXEC));
  if (!older.is_open()) return errno == ENOENT ? absl::OkStatus() : ErrnoStatus(errno, Name(1));
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t size, SizeOfRegularFile(older.get(), Name(1)));
  SIDEBAND_ASSIGN_OR_RETURN(const ChainEnd before, EndOf(older.get(), size, Name(1)));
  // Only the current file may end in an unfinished line.
  if (before.bytes_cut_off > 0) {
    return absl::InvalidArgumentError(absl::StrCat(Name(1), ": the last line is not finished"));
  }
  end_.sequence = before.sequence;
  end_.head = before.head;
  return absl::OkStatus();
}

absl::Status AuditFiles::CutOff() {
  absl::MutexLock lock(&mu_);
  if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) return ErrnoStatus(errno, options_.path);
  is_torn_ = false;
  return absl::OkStatus();
}

// Whether the path still names the open file.
bool AuditFiles::IsInPlace() const {
  struct stat open_file, named;
  return ::fstat(file_.get(), &open_file) == 0 && ::stat(options_.path.c_str(), &named) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

absl::Status AuditFiles::Append(absl::string_view lines) {
  if (file_.is_open() && !IsInPlace()) {
    spdlog::error("audit: {} was removed or replaced; a new file continues the chain", options_.path);
    file_ = Descriptor();
    is_torn_ = false;
  }
  if (!file_.is_open()) {
    SIDEBAND_RETURN_IF_ERROR(OpenFile());
    SIDEBAND_RETURN_IF_ERROR(RestrictToOwner());
  }
  if (is_torn_) SIDEBAND_RETURN_IF_ERROR(CutOff());
  uint64_t size = 0;
  {
    absl::MutexLock lock(&mu_);
    size = size_;
  }
  if (size > 0 && size + lines.size() > options_.max_bytes) {
    SIDEBAND_RETURN_IF_ERROR(Rotate());
    size = 0;
  }
  if (const absl::Status written = WriteAll(file_.get(), lines, options_.path); !written.ok()) {
    is_torn_ = true;
    CutOff().IgnoreError();  // otherwise before the next append
    return written;
  }
  absl::MutexLock lock(&mu_);
  size_ = size + lines.size();
  return absl::OkStatus();
}

absl::Status AuditFiles::Sync() {
  // fdatasync stores the new length, too; only the file's times may be lost.
  if (!file_.is_open() || ::fdatasync(file_.get()) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, options_.path);
}

absl::Status AuditFiles::ShiftNames() {
  // From the oldest on, so that a rename replaces only the file that is dropped.
  for (size_t number = options_.files; number > 0; --number) {
    if (::rename(Name(number - 1).c_str(), Name(number).c_str()) == 0) continue;
    // An interrupted shift leaves a gap in the numbers, which this shift closes.
    if (errno != ENOENT) return ErrnoStatus(errno, Name(number));
  }
  return absl::OkStatus();
}

absl::Status AuditFiles::Rotate() {
  // The file is closed below and cannot be synced afterwards.
  SIDEBAND_RETURN_IF_ERROR(Sync());
  {
    absl::MutexLock lock(&mu_);
    SIDEBAND_RETURN_IF_ERROR(ShiftNames());
    size_ = 0;
    file_ = Descriptor();
  }
  SIDEBAND_RETURN_IF_ERROR(OpenFile());
  return RestrictToOwner();
}

absl::StatusOr<std::vector<AuditFiles::Readable>> AuditFiles::OpenForReading() {
  absl::MutexLock lock(&mu_);
  std::vector<Readable> opened;
  // Under the lock, which rotation takes, too: no file is missed or opened twice between two renames.
  for (size_t number = options_.files + 1; number-- > 0;) {
    Readable one{.name = Name(number)};
    one.file = Descriptor(::open(one.name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!one.file.is_open() && errno == ENOENT) continue;
    if (!one.file.is_open()) return ErrnoStatus(errno, one.name);
    SIDEBAND_ASSIGN_OR_RETURN(one.size, SizeOfRegularFile(one.file.get(), one.name));
    // Lines beyond size_ may be incomplete, or about to be removed.
    if (number == 0) one.size = size_;
    if (one.size > 0) opened.push_back(std::move(one));
  }
  return opened;
}

absl::StatusOr<size_t> AuditFiles::FirstToRead(const std::vector<Readable>& files, uint64_t after) {
  // Includes the sequence, which every line starts with.
  constexpr size_t kStartBytes = 64;
  size_t first = files.size();
  while (first > 0) {
    const Readable& file = files[--first];
    SIDEBAND_ASSIGN_OR_RETURN(const std::string start, ReadAt(file.file.get(), 0, kStartBytes, file.name));
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t sequence, SequenceOf(start, file.name));
    if (sequence <= after) break;
  }
  return first;
}

absl::StatusOr<bool> AuditFiles::Collect(const Readable& file, uint64_t after, size_t bytes_max, std::string& lines) {
  absl::Status broken;
  bool fits = true;
  const auto take = [&](absl::string_view line) {
    const auto sequence = SequenceOf(line, file.name);
    broken = sequence.status();
    if (!broken.ok()) return false;
    if (*sequence <= after) return true;
    fits = lines.size() + line.size() <= bytes_max;
    if (fits) lines.append(line.data(), line.size());
    return fits;
  };
  SIDEBAND_RETURN_IF_ERROR(ForEachLine(file.file.get(), file.size, file.name, take));
  SIDEBAND_RETURN_IF_ERROR(broken);
  return fits;
}

absl::StatusOr<std::string> AuditFiles::ReadAfter(uint64_t after, size_t bytes_max) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<Readable> files, OpenForReading());
  SIDEBAND_ASSIGN_OR_RETURN(size_t at, FirstToRead(files, after));
  std::string lines;
  for (bool fits = true; fits && at < files.size(); ++at) {
    SIDEBAND_ASSIGN_OR_RETURN(fits, Collect(files[at], after, bytes_max, lines));
  }
  return lines;
}

absl::StatusOr<std::string> ReadAt(int fd, uint64_t offset, size_t size, const std::string& path) {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, path);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

namespace {

absl::Status TooLong(const std::string& path) {
  return absl::DataLossError(absl::StrCat(path, ": a line is too long"));
}

}  // namespace

absl::Status ForEachLine(int fd, uint64_t size, const std::string& path,
                         absl::FunctionRef<bool(absl::string_view)> take) {
  constexpr uint64_t kPieceBytes = 256 << 10;
  for (uint64_t offset = 0; offset < size;) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string piece, ReadAt(fd, offset, std::min(kPieceBytes, size - offset), path));
    absl::string_view rest = piece;
    for (size_t end; (end = rest.find('\n')) != absl::string_view::npos; rest.remove_prefix(end + 1)) {
      if (end > kAuditLineBytesMax) return TooLong(path);
      if (!take(rest.substr(0, end + 1))) return absl::OkStatus();
    }
    if (rest.size() > kAuditLineBytesMax) return TooLong(path);
    // The rest begins the next piece.
    const size_t whole = piece.size() - rest.size();
    // No line break was found: the rest of the file is an unfinished line.
    if (whole == 0) break;
    offset += whole;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SequenceOf(absl::string_view line, const std::string& path) {
  uint64_t sequence = 0;
  if (absl::ConsumePrefix(&line, "{\"sequence\":") && absl::SimpleAtoi(line.substr(0, line.find(',')), &sequence)) {
    return sequence;
  }
  return absl::DataLossError(absl::StrCat(path, ": a line is not an entry"));
}

}  // namespace sideband::daemon

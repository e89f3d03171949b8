// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/audit/entry.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

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
    // What is left begins the next piece.
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

// SPDX-License-Identifier: Apache-2.0
//
// Reading the lines of an open audit file.
//   SIDEBAND_RETURN_IF_ERROR(ForEachLine(fd, size, path, [&](absl::string_view line) { …; return true; }));
#ifndef SIDEBAND_DAEMON_AUDIT_LINE_READER_H_
#define SIDEBAND_DAEMON_AUDIT_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

// Bytes [offset, offset + size) of the file, fewer where it ends before. `path` is for messages.
absl::StatusOr<std::string> ReadAt(int fd, uint64_t offset, size_t size, const std::string& path);

// Calls `take` with each line, its break included, of the file's first `size` bytes, until it returns false. A line
// longer than an entry may be is DATA_LOSS; what follows the last break is left out.
absl::Status ForEachLine(int fd, uint64_t size, const std::string& path,
                         absl::FunctionRef<bool(absl::string_view)> take);

// The sequence at the start of an entry's line; DATA_LOSS where there is none.
absl::StatusOr<uint64_t> SequenceOf(absl::string_view line, const std::string& path);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_LINE_READER_H_

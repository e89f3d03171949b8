// SPDX-License-Identifier: Apache-2.0
//
// Reads the lines of an open audit file.
//   std::string last;
//   SIDEBAND_RETURN_IF_ERROR(ForEachLine(fd, size, path, [&](absl::string_view line) {
//     last = std::string(line);
//     return true;
//   }));
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

// Returns the bytes [offset, offset + size) of the file, or fewer at its end. `path` is for messages.
absl::StatusOr<std::string> ReadAt(int fd, uint64_t offset, size_t size, const std::string& path);

// Calls `take` with each line of the file's first `size` bytes, including its line break, until it returns false. Bytes
// after the last line break are left out, unless they are more than an entry may have: DATA_LOSS.
absl::Status ForEachLine(int fd, uint64_t size, const std::string& path,
                         absl::FunctionRef<bool(absl::string_view)> take);

// The sequence at the start of an entry's line; DATA_LOSS where the line has no sequence.
absl::StatusOr<uint64_t> SequenceOf(absl::string_view line, const std::string& path);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_LINE_READER_H_

// SPDX-License-Identifier: Apache-2.0
//
// Whole small files.
#ifndef SIDEBAND_PROTO_BASE_FILE_H_
#define SIDEBAND_PROTO_BASE_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace sideband {

inline constexpr size_t kFileSizeMax = 64 << 20;

// The file's bytes. A missing file is NOT_FOUND, one that may not be read PERMISSION_DENIED, one larger than `size_max`
// OUT_OF_RANGE, a directory or device INVALID_ARGUMENT; each message starts with the path.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t size_max = kFileSizeMax);

// An absl::Status for `errno_value` with the message "PATH: what the system says".
absl::Status ErrnoStatus(int errno_value, const std::string& path);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_FILE_H_

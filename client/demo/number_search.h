// SPDX-License-Identifier: Apache-2.0
//
// Whether counts can be found in bytes that others have: what passed a bus, or a program's memory.
//   SIDEBAND_ASSIGN_OR_RETURN(const size_t found, FindInFile({123456789012}, "gpu0.sbt"));
#ifndef SIDEBAND_CLIENT_DEMO_NUMBER_SEARCH_H_
#define SIDEBAND_CLIENT_DEMO_NUMBER_SEARCH_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::client {

// Smaller numbers may be anywhere by chance.
inline constexpr uint64_t kTellingNumberMin = uint64_t{1} << 32;

// How many of the numbers are in the bytes: as a word of 8 bytes, at each bit offset, as a snapshot's stream has it; as
// a varint; as text.
size_t CountFound(const std::vector<uint64_t>& numbers, absl::string_view bytes);
// Errors start with the path.
absl::StatusOr<size_t> FindInFile(const std::vector<uint64_t>& numbers, const std::string& path);
// In all memory of a running process. PERMISSION_DENIED unless the caller may read it.
absl::StatusOr<size_t> FindInProcess(const std::vector<uint64_t>& numbers, pid_t process);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_NUMBER_SEARCH_H_

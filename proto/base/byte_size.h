// SPDX-License-Identifier: Apache-2.0
//
// Sizes in human-readable notation.
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t bytes, ParseByteSize("16MiB"));
#ifndef SIDEBAND_PROTO_BASE_BYTE_SIZE_H_
#define SIDEBAND_PROTO_BASE_BYTE_SIZE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband {

// A number of bytes, such as 1048576, 512KiB, 16MiB or 1GiB. INVALID_ARGUMENT for other notations.
absl::StatusOr<uint64_t> ParseByteSize(absl::string_view text);
// The size in the largest unit that divides it: "64KiB".
std::string FormatByteSize(uint64_t bytes);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_BYTE_SIZE_H_

// SPDX-License-Identifier: Apache-2.0
//
// Sizes as people write them.
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t bytes, ParseByteSize("16MiB"));
#ifndef SIDEBAND_PROTO_BASE_BYTE_SIZE_H_
#define SIDEBAND_PROTO_BASE_BYTE_SIZE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband {

// A number of bytes, such as 1048576, 512KiB, 16MiB or 1GiB. INVALID_ARGUMENT for anything else.
absl::StatusOr<uint64_t> ParseByteSize(absl::string_view text);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_BYTE_SIZE_H_

// SPDX-License-Identifier: Apache-2.0
//
// Parses hexadecimal digits. The opposite direction is absl::BytesToHexString; Abseil's own parser is not
// used because its signature differs between Debian 12 and 13.
//   const std::optional<Bytes> frame = ParseHex("9e5c0402000080");
#ifndef SIDEBAND_PROTO_BASE_HEX_H_
#define SIDEBAND_PROTO_BASE_HEX_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"

namespace sideband {

// Two digits per byte, in either case, without separators. nullopt for an odd number of digits and for other
// characters.
std::optional<Bytes> ParseHex(absl::string_view digits);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_HEX_H_

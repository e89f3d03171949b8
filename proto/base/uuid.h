// SPDX-License-Identifier: Apache-2.0
//
// A UUID (RFC 9562) as an opaque identity. The bytes are in the order of the text form.
//   SIDEBAND_ASSIGN_OR_RETURN(const Uuid vm, Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"));
#ifndef SIDEBAND_PROTO_BASE_UUID_H_
#define SIDEBAND_PROTO_BASE_UUID_H_

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband {

struct Uuid {
  std::array<uint8_t, 16> bytes{};

  // Parses the canonical 8-4-4-4-12 form, in either case; INVALID_ARGUMENT for other forms.
  static absl::StatusOr<Uuid> Parse(absl::string_view text);
  // The canonical form in lower case.
  std::string ToString() const;
  // All zeros: not an identity.
  bool is_nil() const { return *this == Uuid{}; }

  auto operator<=>(const Uuid&) const = default;

  template <typename H>
  friend H AbslHashValue(H hash, const Uuid& uuid) {
    return H::combine(std::move(hash), uuid.bytes);
  }
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_UUID_H_

// SPDX-License-Identifier: Apache-2.0
//
// The parts of a JWS in its compact serialization (RFC 7515, 7.1), not yet verified.
//   SIDEBAND_ASSIGN_OR_RETURN(const CompactJws jws, ParseCompactJws(token));
#ifndef SIDEBAND_DAEMON_IDENTITY_COMPACT_JWS_H_
#define SIDEBAND_DAEMON_IDENTITY_COMPACT_JWS_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

inline constexpr size_t kTokenBytesMax = 8192;

struct CompactJws {
  std::string algorithm;              // from the header, unverified; must equal the key's algorithm
  std::optional<std::string> key_id;  // "kid"
  std::string payload;
  std::string signature;
};

// UNAUTHENTICATED "token: WHY".
absl::Status BadToken(absl::string_view why);

// Returns UNAUTHENTICATED with a reason for a token that is longer than kTokenBytesMax or is not three parts of strict
// base64url. The header must be strict JSON with an `alg`; a `kid` must be a string, and `typ` must be absent or that
// of a JWT. A `crit` is rejected, since no extension is supported.
absl::StatusOr<CompactJws> ParseCompactJws(absl::string_view token);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_COMPACT_JWS_H_

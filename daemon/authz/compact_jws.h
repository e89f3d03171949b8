// SPDX-License-Identifier: Apache-2.0
//
// The parts of a JWS in its compact form (RFC 7515, 7.1), before anything in it is believed.
//   SIDEBAND_ASSIGN_OR_RETURN(const CompactJws jws, ParseCompactJws(token));
#ifndef SIDEBAND_DAEMON_AUTHZ_COMPACT_JWS_H_
#define SIDEBAND_DAEMON_AUTHZ_COMPACT_JWS_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

inline constexpr size_t kTokenBytesMax = 8192;

struct CompactJws {
  std::string algorithm;              // what the header says; the key says what it must be
  std::optional<std::string> key_id;  // "kid"
  std::string payload;
  std::string signature;
};

// UNAUTHENTICATED, saying why, for a token that is too long, is not three parts of strict base64url, whose header is
// not strict JSON with an algorithm, has a `typ` of something else than a JWT or a `crit`: no extension is understood
// here.
absl::StatusOr<CompactJws> ParseCompactJws(absl::string_view token);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_COMPACT_JWS_H_

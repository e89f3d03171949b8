// SPDX-License-Identifier: Apache-2.0
//
// The claims of a token (RFC 7519, 4.1) whose signature has been verified.
//   SIDEBAND_ASSIGN_OR_RETURN(const TokenClaims claims, ReadClaims(jws.payload, {.audience = "sideband"}));
//   SIDEBAND_RETURN_IF_ERROR(CheckTimes(claims, clock.Now()));
#ifndef SIDEBAND_DAEMON_IDENTITY_CLAIMS_H_
#define SIDEBAND_DAEMON_IDENTITY_CLAIMS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// The largest accepted difference between the issuer's clock and the daemon's, in either direction.
inline constexpr absl::Duration kTokenLeeway = absl::Seconds(10);

// The claims that a token must have.
struct TokenExpectations {
  std::string audience;  // must be in the token's `aud`
  std::string issuer;    // empty: any issuer with a key of the key set
};

struct TokenClaims {
  std::string identity;  // in the policy's syntax
  absl::Time not_before = absl::InfinitePast();
  absl::Time expires;
};

// UNAUTHENTICATED with a reason for a payload that is not strict JSON, lacks `sub`, `exp` or `aud`, has a claim of the
// wrong type, a `sub` that is not an identity, or an unexpected audience or issuer.
absl::StatusOr<TokenClaims> ReadClaims(absl::string_view payload, const TokenExpectations& expected);

// UNAUTHENTICATED before `not_before` - kTokenLeeway, and from `expires` + kTokenLeeway on.
absl::Status CheckTimes(const TokenClaims& claims, absl::Time now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_CLAIMS_H_

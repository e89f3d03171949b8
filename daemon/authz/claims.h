// SPDX-License-Identifier: Apache-2.0
//
// What a token says (RFC 7519, 4.1), once its signature is known to be good.
//   SIDEBAND_ASSIGN_OR_RETURN(const TokenClaims claims, ReadClaims(jws.payload, {.audience = "sideband"}));
//   SIDEBAND_RETURN_IF_ERROR(CheckTimes(claims, clock.Now()));
#ifndef SIDEBAND_DAEMON_AUTHZ_CLAIMS_H_
#define SIDEBAND_DAEMON_AUTHZ_CLAIMS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// How far the issuer's clock and ours may be apart, either way.
inline constexpr absl::Duration kTokenLeeway = absl::Seconds(10);

// What a token must say of itself.
struct TokenExpectations {
  std::string audience;  // must be among the token's
  std::string issuer;    // empty: whoever holds one of the keys
};

struct TokenClaims {
  std::string identity;  // as the policy lists it
  absl::Time not_before = absl::InfinitePast();
  absl::Time expires;
};

// UNAUTHENTICATED, saying why, for a payload that is not strict JSON, lacks `sub`, `exp` or `aud`, has a claim of the
// wrong type, or another audience or issuer than is expected.
absl::StatusOr<TokenClaims> ReadClaims(absl::string_view payload, const TokenExpectations& expected);

// UNAUTHENTICATED before `not_before` and from `expires` on, give or take the leeway.
absl::Status CheckTimes(const TokenClaims& claims, absl::Time now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_CLAIMS_H_

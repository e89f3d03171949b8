// SPDX-License-Identifier: Apache-2.0
//
// Whose a bearer token is: a JWT of ES256 or RS256 (RFC 7519, RFC 7518), verified with local keys.
//   TokenVerifier verifier({.audience = "sideband"}, clock);
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string identity, verifier.Verify(keys, token));
#ifndef SIDEBAND_DAEMON_AUTHZ_TOKEN_VERIFIER_H_
#define SIDEBAND_DAEMON_AUTHZ_TOKEN_VERIFIER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/authz/claims.h"
#include "daemon/authz/key_set.h"
#include "daemon/authz/token_cache.h"
#include "daemon/base/clock.h"

namespace sideband::daemon {

inline constexpr size_t kCachedTokensMax = 1024;

// Thread-safe. `clock` must outlive it.
class TokenVerifier {
 public:
  TokenVerifier(TokenExpectations expected, const Clock& clock);

  // "spiffe://…" where the token's subject is a SPIFFE ID, else "jwt:SUBJECT". UNAUTHENTICATED otherwise, with the
  // reason for the audit log: it must not reach the caller. Without `keys` (nullptr) no token is anyone's.
  absl::StatusOr<std::string> Verify(const std::shared_ptr<const KeySet>& keys, absl::string_view token);

  // For tests: how many tokens need no signature next time.
  size_t cached() const { return cache_.size(); }

 private:
  absl::StatusOr<TokenClaims> VerifyAnew(const KeySet& keys, absl::string_view token) const;

  const TokenExpectations expected_;
  const Clock& clock_;
  TokenCache cache_{kCachedTokensMax};
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_TOKEN_VERIFIER_H_

// SPDX-License-Identifier: Apache-2.0
//
// Verifies bearer tokens: JWTs signed with ES256 or RS256 (RFC 7519, RFC 7518), checked against local keys.
//   TokenVerifier verifier({.audience = "sideband"}, clock);
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string identity, verifier.Verify(keys, token));
#ifndef SIDEBAND_DAEMON_IDENTITY_TOKEN_VERIFIER_H_
#define SIDEBAND_DAEMON_IDENTITY_TOKEN_VERIFIER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/base/clock.h"
#include "daemon/identity/claims.h"
#include "daemon/identity/key_set.h"
#include "daemon/identity/token_cache.h"

namespace sideband::daemon {

inline constexpr size_t kCachedTokensMax = 1024;

// Thread-safe. `clock` must outlive it.
class TokenVerifier {
 public:
  TokenVerifier(TokenExpectations expected, const Clock& clock);

  // Returns "spiffe://…" where the token's subject is a SPIFFE ID, else "jwt:SUBJECT". Returns UNAUTHENTICATED for an
  // invalid token. The reason is for the audit log and must not reach the caller. Without `keys` (nullptr) every token
  // is rejected.
  absl::StatusOr<std::string> Verify(const std::shared_ptr<const KeySet>& keys, absl::string_view token);

  // For tests: the number of tokens whose next verification needs no signature check.
  size_t cached() const { return cache_.size(); }

 private:
  absl::StatusOr<TokenClaims> VerifyAnew(const KeySet& keys, absl::string_view token) const;

  const TokenExpectations expected_;
  const Clock& clock_;
  TokenCache cache_{kCachedTokensMax};
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_TOKEN_VERIFIER_H_

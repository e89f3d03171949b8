// SPDX-License-Identifier: Apache-2.0
//
// Verifies bearer tokens: JWTs signed with ES256 or RS256 (RFC 7519, RFC 7518), checked against local keys.
//   TokenVerifier verifier({.audience = "sideband"}, clock);
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string identity, verifier.Verify(keys, token));
#ifndef SIDEBAND_DAEMON_IDENTITY_TOKEN_VERIFIER_H_
#define SIDEBAND_DAEMON_IDENTITY_TOKEN_VERIFIER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/identity/key_set.h"

namespace sideband::daemon {

// The claims of a token (RFC 7519, 4.1) whose signature has been verified.
//   SIDEBAND_ASSIGN_OR_RETURN(const TokenClaims claims, ReadClaims(jws.payload, {.audience = "sideband"}));
//   SIDEBAND_RETURN_IF_ERROR(CheckTimes(claims, clock.Now()));
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

// The token in an Authorization field (RFC 6750, 2.1).
//   credentials.bearer_token = BearerToken("Bearer eyJ…");
// Returns the token after the scheme `Bearer` (case-insensitive), without surrounding whitespace. Returns an empty
// string, which is never a valid token, for any other scheme.
std::string BearerToken(absl::string_view authorization);

// Tokens whose signature has been verified. A client that sends the same token with every request costs one signature
// check, then one hash per request.

// SHA-256 of the token: the cache holds nothing that could be presented as a token.
using TokenDigest = std::array<uint8_t, 32>;
TokenDigest DigestOf(absl::string_view token);

// Thread-safe. Holds tokens of one key set at a time; another key set empties the cache.
class TokenCache {
 public:
  explicit TokenCache(size_t tokens_max) : tokens_max_(tokens_max) {}

  // Returns the claims that were inserted with these same keys, or nullopt. A token that is not valid at `now` is
  // evicted.
  std::optional<TokenClaims> Find(const std::shared_ptr<const KeySet>& keys, const TokenDigest& digest, absl::Time now);
  // Evicts the oldest token of a full cache.
  void Insert(const std::shared_ptr<const KeySet>& keys, const TokenDigest& digest, TokenClaims claims);
  size_t size() const;

 private:
  void Use(const std::shared_ptr<const KeySet>& keys) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(const TokenDigest& digest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t tokens_max_;
  mutable absl::Mutex mu_;
  std::shared_ptr<const KeySet> keys_ ABSL_GUARDED_BY(mu_);  // held, so that its address is not reused
  absl::flat_hash_map<TokenDigest, TokenClaims> tokens_ ABSL_GUARDED_BY(mu_);
  std::deque<TokenDigest> by_age_ ABSL_GUARDED_BY(mu_);  // the keys of tokens_, oldest first
};

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

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
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/identity/claims.h"
#include "daemon/identity/key_set.h"

namespace sideband::daemon {

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

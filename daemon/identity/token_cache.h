// SPDX-License-Identifier: Apache-2.0
//
// Tokens whose signature has been verified. A client that sends the same token with every request costs one signature
// check, then one hash per request.
//   if (const auto known = cache.Find(keys, digest, now)) return known->identity;
//   cache.Insert(keys, digest, claims);   // once the signature has been verified
#ifndef SIDEBAND_DAEMON_IDENTITY_TOKEN_CACHE_H_
#define SIDEBAND_DAEMON_IDENTITY_TOKEN_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/identity/claims.h"
#include "daemon/identity/key_set.h"

namespace sideband::daemon {

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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_TOKEN_CACHE_H_

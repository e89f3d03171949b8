// SPDX-License-Identifier: Apache-2.0
//
// Tokens whose signature was found good, so that a client that sends the same one with every request costs one
// signature and then a hash each.
//   if (const auto claims = cache.Find(keys, digest, now)) …
//   cache.Insert(keys, digest, claims);
#ifndef SIDEBAND_DAEMON_AUTHZ_TOKEN_CACHE_H_
#define SIDEBAND_DAEMON_AUTHZ_TOKEN_CACHE_H_

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
#include "daemon/authz/claims.h"
#include "daemon/authz/key_set.h"

namespace sideband::daemon {

// SHA-256 of the token: the cache holds nothing that could be shown to somebody as a token.
using TokenDigest = std::array<uint8_t, 32>;
TokenDigest DigestOf(absl::string_view token);

// Thread-safe. Of one key set at a time: another one forgets everything.
class TokenCache {
 public:
  explicit TokenCache(size_t tokens_max) : tokens_max_(tokens_max) {}

  // What was inserted under these very keys. A token that is out of its time at `now` is forgotten.
  std::optional<TokenClaims> Find(const std::shared_ptr<const KeySet>& keys, const TokenDigest& digest, absl::Time now);
  // The oldest makes room.
  void Insert(const std::shared_ptr<const KeySet>& keys, const TokenDigest& digest, TokenClaims claims);
  size_t size() const;

 private:
  void Use(const std::shared_ptr<const KeySet>& keys) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(const TokenDigest& digest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t tokens_max_;
  mutable absl::Mutex mu_;
  std::shared_ptr<const KeySet> keys_ ABSL_GUARDED_BY(mu_);  // shared so that its address stays its own
  absl::flat_hash_map<TokenDigest, TokenClaims> tokens_ ABSL_GUARDED_BY(mu_);
  std::deque<TokenDigest> by_age_ ABSL_GUARDED_BY(mu_);  // of tokens_, the oldest first
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_TOKEN_CACHE_H_

// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/token_cache.h"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

namespace sideband::daemon {

TokenDigest DigestOf(absl::string_view token) {
  TokenDigest digest{};
  EVP_Digest(token.data(), token.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

void TokenCache::Use(const std::shared_ptr<const KeySet>& keys) {
  if (keys == keys_) return;
  keys_ = keys;
  tokens_.clear();
  by_age_.clear();
}

void TokenCache::Forget(const TokenDigest& digest) {
  tokens_.erase(digest);
  // Linear in at most tokens_max_ entries, and only at an expiry or an eviction.
  by_age_.erase(std::find(by_age_.begin(), by_age_.end(), digest));
}

std::optional<TokenClaims> TokenCache::Find(const std::shared_ptr<const KeySet>& keys, const TokenDigest& digest,
                                            absl::Time now) {
  absl::MutexLock lock(&mu_);
  Use(keys);
  const auto found = tokens_.find(digest);
  if (found == tokens_.end()) return std::nullopt;
  if (CheckTimes(found->second, now).ok()) return found->second;
  Forget(digest);
  return std::nullopt;
}

void TokenCache::Insert(const std::shared_ptr<const KeySet>& keys, const TokenDigest& digest, TokenClaims claims) {
  absl::MutexLock lock(&mu_);
  Use(keys);
  // Two threads may have verified the token at the same time; it keeps its place in by_age_.
  if (!tokens_.insert_or_assign(digest, std::move(claims)).second) return;
  by_age_.push_back(digest);
  // A copy, since Forget() erases the element of by_age_.
  if (by_age_.size() > tokens_max_) Forget(TokenDigest(by_age_.front()));
}

size_t TokenCache::size() const {
  absl::MutexLock lock(&mu_);
  return tokens_.size();
}

}  // namespace sideband::daemon

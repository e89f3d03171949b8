// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/token_verifier.h"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

#include "daemon/identity/compact_jws.h"
#include "proto/base/status_macros.h"

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

TokenVerifier::TokenVerifier(TokenExpectations expected, const Clock& clock)
    : expected_(std::move(expected)), clock_(clock) {}

absl::StatusOr<std::string> TokenVerifier::Verify(const std::shared_ptr<const KeySet>& keys, absl::string_view token) {
  if (keys == nullptr) return BadToken("there are no keys");
  // Also checked before the token is hashed: hostile input may be long.
  if (token.size() > kTokenBytesMax) return BadToken("too long");
  const TokenDigest digest = DigestOf(token);
  const absl::Time now = clock_.Now();
  if (auto known = cache_.Find(keys, digest, now)) return std::move(known->identity);
  SIDEBAND_ASSIGN_OR_RETURN(TokenClaims claims, VerifyAnew(*keys, token));
  SIDEBAND_RETURN_IF_ERROR(CheckTimes(claims, now));
  std::string identity = claims.identity;
  // After every check: a hit of the cache skips all but the times.
  cache_.Insert(keys, digest, std::move(claims));
  return identity;
}

absl::StatusOr<TokenClaims> TokenVerifier::VerifyAnew(const KeySet& keys, absl::string_view token) const {
  SIDEBAND_ASSIGN_OR_RETURN(const CompactJws jws, ParseCompactJws(token));
  if (!jws.key_id) return BadToken("header: no kid");
  const VerificationKey* key = keys.Find(*jws.key_id);
  if (key == nullptr) return BadToken("its key is unknown");
  SIDEBAND_RETURN_IF_ERROR(key->Verify(token, jws));
  return ReadClaims(jws.payload, expected_);
}

}  // namespace sideband::daemon

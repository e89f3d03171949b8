// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/token_verifier.h"

#include <utility>

#include "daemon/identity/compact_jws.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

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

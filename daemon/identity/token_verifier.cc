// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/token_verifier.h"

#include <openssl/evp.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/identity/identity.h"
#include "daemon/identity/key_set.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using nlohmann::json;

// 9999-12-31. No issuer intends a later time.
constexpr double kUnixSecondsMax = 253402300799;

absl::StatusOr<std::string> Text(const json& claims, const char* name) {
  const std::string* text = FindString(claims, name);
  if (text == nullptr) return BadToken(absl::StrCat("'", name, "' is missing or not a string"));
  return *text;
}

// A NumericDate: seconds since 1970, possibly with a fraction.
absl::StatusOr<absl::Time> Date(const json& claims, const char* name) {
  const auto found = claims.find(name);
  const bool is_number = found != claims.end() && found->is_number();
  // An absent or non-numeric claim becomes -1, which the range check rejects.
  const double seconds = is_number ? found->get<double>() : -1;
  if (!(seconds >= 0 && seconds <= kUnixSecondsMax)) {
    return BadToken(absl::StrCat("'", name, "' is missing or not a time"));
  }
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

bool IsText(const json& value) { return value.is_string(); }

// `aud` is a string or a list of strings.
absl::Status CheckAudience(const json& claims, const std::string& expected) {
  const auto found = claims.find("aud");
  if (found == claims.end()) return BadToken("'aud' is missing");
  const json list = found->is_string() ? json::array({*found}) : *found;
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), IsText))
    return BadToken("'aud' is not a string or a list of strings");
  if (std::find(list.begin(), list.end(), json(expected)) != list.end()) return absl::OkStatus();
  return BadToken("it is for another audience");
}

absl::Status CheckIssuer(const json& claims, const std::string& expected) {
  if (expected.empty() && !claims.contains("iss")) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const std::string issuer, Text(claims, "iss"));
  return expected.empty() || issuer == expected ? absl::OkStatus() : BadToken("it is from another issuer");
}

absl::Status ReadTimes(const json& json_claims, TokenClaims& claims) {
  SIDEBAND_ASSIGN_OR_RETURN(claims.expires, Date(json_claims, "exp"));
  if (json_claims.contains("nbf")) {
    SIDEBAND_ASSIGN_OR_RETURN(claims.not_before, Date(json_claims, "nbf"));
  }
  // `iat` has no effect, but must be a time.
  return json_claims.contains("iat") ? Date(json_claims, "iat").status() : absl::OkStatus();
}

}  // namespace

absl::StatusOr<TokenClaims> ReadClaims(absl::string_view payload, const TokenExpectations& expected) {
  const auto json_claims = ParseJsonObject(payload);
  if (!json_claims.ok()) return BadToken(absl::StrCat("claims: ", json_claims.status().message()));
  SIDEBAND_RETURN_IF_ERROR(CheckAudience(*json_claims, expected.audience));
  SIDEBAND_RETURN_IF_ERROR(CheckIssuer(*json_claims, expected.issuer));
  TokenClaims claims;
  SIDEBAND_RETURN_IF_ERROR(ReadTimes(*json_claims, claims));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string subject, Text(*json_claims, "sub"));
  auto identity = IdentityFromSubject(subject);
  if (!identity) return BadToken("'sub' is not an identity");
  claims.identity = *std::move(identity);
  return claims;
}

absl::Status CheckTimes(const TokenClaims& claims, absl::Time now) {
  if (now >= claims.expires + kTokenLeeway) return BadToken("it has expired");
  if (now < claims.not_before - kTokenLeeway) return BadToken("it is not valid yet");
  return absl::OkStatus();
}

std::string BearerToken(absl::string_view authorization) {
  constexpr absl::string_view kScheme = "Bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kScheme)) return "";
  return std::string(absl::StripAsciiWhitespace(authorization.substr(kScheme.size())));
}

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

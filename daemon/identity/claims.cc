// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/claims.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "daemon/identity/compact_jws.h"
#include "daemon/identity/identity.h"
#include "daemon/identity/strict_json.h"
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

}  // namespace sideband::daemon

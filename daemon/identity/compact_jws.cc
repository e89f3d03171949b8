// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/compact_jws.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using nlohmann::json;

// Detects repeated names in an object while a parser runs.
class NameWatch {
 public:
  bool found_twice() const { return found_twice_; }

  void See(json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) names_.emplace_back();
    if (event == json::parse_event_t::object_end && !names_.empty()) names_.pop_back();
    if (event != json::parse_event_t::key || names_.empty()) return;
    if (!names_.back().insert(parsed.get_ref<const std::string&>()).second) found_twice_ = true;
  }

 private:
  std::vector<std::set<std::string>> names_;  // of the open objects, innermost last
  bool found_twice_ = false;
};

// Accepts an absent `typ` and that of a JWT (RFC 7519, 5.1), of an access token (RFC 9068) or of a JWT-SVID.
bool IsTokenType(const nlohmann::json& header) {
  const auto type = header.find("typ");
  if (type == header.end()) return true;
  const auto* text = type->get_ptr<const std::string*>();
  return text != nullptr && (absl::EqualsIgnoreCase(*text, "JWT") || absl::EqualsIgnoreCase(*text, "at+jwt") ||
                             absl::EqualsIgnoreCase(*text, "JOSE"));
}

absl::Status ReadHeader(absl::string_view text, CompactJws& jws) {
  const auto header = ParseJsonObject(text);
  if (!header.ok()) return BadToken(absl::StrCat("header: ", header.status().message()));
  const std::string* algorithm = FindString(*header, "alg");
  if (algorithm == nullptr) return BadToken("header: no alg");
  jws.algorithm = *algorithm;
  // RFC 7515, 4.1.11: a JWS with an unsupported critical extension is invalid.
  if (header->contains("crit")) return BadToken("header: crit names extensions, and none is supported");
  if (!IsTokenType(*header)) return BadToken("header: typ is not JWT");
  // Only kid selects a key: jwk, jku and x5c would let the signer bring its own.
  if (header->contains("kid")) {
    const std::string* key_id = FindString(*header, "kid");
    if (key_id == nullptr) return BadToken("header: kid is not a string");
    jws.key_id = *key_id;
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<std::string> DecodeBase64Url(absl::string_view text) {
  std::string bytes;
  // Abseil's decoder also accepts texts that its encoder never produces.
  if (!absl::WebSafeBase64Unescape(text, &bytes) || EncodeBase64Url(bytes) != text) return std::nullopt;
  return bytes;
}

std::string EncodeBase64Url(absl::string_view bytes) { return absl::WebSafeBase64Escape(bytes); }

absl::StatusOr<json> ParseJsonObject(absl::string_view text) {
  // The parser takes a NUL for the end of the input and ignores the rest.
  if (absl::StrContains(text, '\0')) return absl::InvalidArgumentError("not JSON");
  NameWatch watch;
  json parsed = json::parse(
      text.begin(), text.end(),
      [&](int, json::parse_event_t event, json& value) {
        watch.See(event, value);
        return true;
      },
      /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return absl::InvalidArgumentError("not JSON");
  if (!parsed.is_object()) return absl::InvalidArgumentError("not a JSON object");
  if (watch.found_twice()) return absl::InvalidArgumentError("a name occurs twice");
  return parsed;
}

const std::string* FindString(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

absl::Status BadToken(absl::string_view why) { return absl::UnauthenticatedError(absl::StrCat("token: ", why)); }

absl::StatusOr<CompactJws> ParseCompactJws(absl::string_view token) {
  // Checked before decoding, so that the length of hostile input is bounded.
  if (token.size() > kTokenBytesMax) return BadToken(absl::StrCat("longer than ", kTokenBytesMax, " bytes"));
  const std::vector<absl::string_view> parts = absl::StrSplit(token, '.');
  if (parts.size() != 3) return BadToken("not three parts");
  const auto header = DecodeBase64Url(parts[0]);
  auto payload = DecodeBase64Url(parts[1]);
  auto signature = DecodeBase64Url(parts[2]);
  if (!header || !payload || !signature) return BadToken("not base64url");
  CompactJws jws{.payload = *std::move(payload), .signature = *std::move(signature)};
  SIDEBAND_RETURN_IF_ERROR(ReadHeader(*header, jws));
  return jws;
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/key_set.h"

#include <cjose/jws.h>
#include <openssl/err.h>

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"

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

constexpr size_t kP256CoordinateBytes = 32;

// RFC 7518, 6.2.2, 6.3.2 and 6.4.1: the members of keys that can sign.
constexpr const char* kPrivateMembers[] = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"};

size_t BitsOf(const std::string& number) {
  return number.empty() ? 0 : 8 * number.size() - std::countl_zero(static_cast<uint8_t>(number[0]));
}

bool IsOdd(const std::string& number) { return (static_cast<uint8_t>(number.back()) & 1) != 0; }

constexpr size_t kKeySetBytesMax = 1 << 20;
// Sized for kKeysMax keys, each with certificates and members that other issuers add.
constexpr YamlBounds kKeySetBounds = {.depth_max = 16, .nodes_max = 1 << 14};

// The list under "keys". Other members are ignored; SPIFFE trust bundles have some.
absl::StatusOr<std::vector<YamlNode>> KeyNodes(const YamlNode& root) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, root.Entries());
  for (const auto& [name, node] : entries) {
    if (name != "keys") continue;
    SIDEBAND_ASSIGN_OR_RETURN(std::vector<YamlNode> nodes, node.List());
    if (nodes.empty()) return root.Error("'keys' is empty: no token could be verified");
    if (nodes.size() > kKeysMax) return root.Error(absl::StrCat("more than ", kKeysMax, " keys"));
    return nodes;
  }
  return root.Error("'keys' is missing");
}

// The bounds count brackets and quotes as JSON has them. In other YAML they can mean something else.
absl::Status CheckIsJsonObject(const std::string& text, const std::string& path) {
  if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "{")) return absl::OkStatus();
  return LineError(path, 1, "not a JSON object");
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

// Checks a JWK and passes only the key itself on to cjose.
class VerificationKey::JwkReader {
 public:
  explicit JwkReader(const YamlNode& node) : node_(node) {}

  absl::StatusOr<std::unique_ptr<const VerificationKey>> Read();

 private:
  // At the line of the member if it exists, else of the key.
  absl::Status Error(const std::string& member, absl::string_view what) const;
  absl::StatusOr<std::string> Text(const std::string& member) const;
  // Returns the member's bytes, decoded from base64url.
  absl::StatusOr<std::string> Number(const std::string& member) const;
  absl::Status CheckMembers() const;
  absl::Status CheckUse() const;
  absl::Status CheckOperations() const;
  absl::Status Ec();
  absl::Status Rsa();
  absl::Status Import(const nlohmann::json& jwk);

  const YamlNode& node_;
  std::map<std::string, YamlNode> members_;
  std::unique_ptr<VerificationKey> key_{new VerificationKey};
};

absl::Status VerificationKey::JwkReader::Error(const std::string& member, absl::string_view what) const {
  const auto found = members_.find(member);
  const std::string whose = key_->id_.empty() ? "key: " : absl::StrCat("key '", key_->id_, "': ");
  return (found == members_.end() ? node_ : found->second).Error(absl::StrCat(whose, what));
}

absl::StatusOr<std::string> VerificationKey::JwkReader::Text(const std::string& member) const {
  const auto found = members_.find(member);
  if (found == members_.end()) return Error(member, absl::StrCat("'", member, "' is missing"));
  return found->second.String();
}

absl::StatusOr<std::string> VerificationKey::JwkReader::Number(const std::string& member) const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, Text(member));
  auto bytes = DecodeBase64Url(text);
  if (!bytes) return Error(member, absl::StrCat("'", member, "' is not base64url"));
  return *std::move(bytes);
}

absl::Status VerificationKey::JwkReader::CheckMembers() const {
  for (const char* member : kPrivateMembers) {
    if (!members_.contains(member)) continue;
    return Error(member,
                 absl::StrCat("'", member, "' belongs to a private or symmetric key; only public keys are allowed"));
  }
  if (!members_.contains("alg")) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const std::string algorithm, Text("alg"));
  if (algorithm == key_->algorithm_) return absl::OkStatus();
  return Error("alg", absl::StrCat("alg is '", algorithm, "', but this key is for ", key_->algorithm_));
}

absl::Status VerificationKey::JwkReader::CheckUse() const {
  if (!members_.contains("use")) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const std::string use, Text("use"));
  // SPIFFE trust bundles have "jwt-svid" in place of "sig".
  if (use == "sig" || use == "jwt-svid") return absl::OkStatus();
  return Error("use", absl::StrCat("use is '", use, "', not 'sig' or 'jwt-svid'"));
}

absl::Status VerificationKey::JwkReader::CheckOperations() const {
  const auto found = members_.find("key_ops");
  if (found == members_.end()) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<std::string> operations, found->second.StringList());
  if (operations == std::vector<std::string>{"verify"}) return absl::OkStatus();
  return Error("key_ops", "key_ops is not [\"verify\"]");
}

absl::Status VerificationKey::JwkReader::Import(const nlohmann::json& jwk) {
  const std::string text = jwk.dump();
  cjose_err error{};
  key_->jwk_.reset(cjose_jwk_import(text.data(), text.size(), &error));
  // cjose leaves its errors in OpenSSL's queue of the thread.
  ERR_clear_error();
  return key_->jwk_ != nullptr ? absl::OkStatus() : Error("kty", "not a valid public key");
}

absl::Status VerificationKey::JwkReader::Ec() {
  key_->algorithm_ = "ES256";
  key_->signature_bytes_ = 2 * kP256CoordinateBytes;
  SIDEBAND_RETURN_IF_ERROR(CheckMembers());
  SIDEBAND_ASSIGN_OR_RETURN(const std::string curve, Text("crv"));
  if (curve != "P-256") return Error("crv", absl::StrCat("curve '", curve, "' is not P-256"));
  nlohmann::json jwk = {{"kty", "EC"}, {"crv", "P-256"}};
  for (const char* member : {"x", "y"}) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string coordinate, Number(member));
    // Coordinates have their full length, with leading zeros (RFC 7518, section 6.2.1.2).
    if (coordinate.size() != kP256CoordinateBytes) {
      return Error(member, absl::StrCat("'", member, "' does not have ", kP256CoordinateBytes, " bytes"));
    }
    jwk[member] = EncodeBase64Url(coordinate);
  }
  return Import(jwk);
}

absl::Status VerificationKey::JwkReader::Rsa() {
  constexpr size_t kExponentBytesMax = 8;
  key_->algorithm_ = "RS256";
  SIDEBAND_RETURN_IF_ERROR(CheckMembers());
  SIDEBAND_ASSIGN_OR_RETURN(const std::string modulus, Number("n"));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string exponent, Number("e"));
  const size_t bits = BitsOf(modulus);
  if (bits < kRsaBitsMin || bits > kRsaBitsMax) {
    return Error("n", absl::StrCat("an RSA key must have ", kRsaBitsMin, " to ", kRsaBitsMax, " bits, not ", bits));
  }
  // A modulus is a product of odd primes, and its encoding has no leading zero (RFC 7518, section 6.3.1.1).
  const bool canonical = modulus[0] != 0 && IsOdd(modulus);
  if (!canonical) return Error("n", "'n' is not an RSA modulus");
  // With an exponent of 1 every message would be its own signature.
  if (exponent.empty() || exponent.size() > kExponentBytesMax || exponent[0] == 0 || !IsOdd(exponent) ||
      BitsOf(exponent) < 2) {
    return Error("e", "'e' is not an RSA exponent");
  }
  key_->signature_bytes_ = modulus.size();
  return Import({{"kty", "RSA"}, {"n", EncodeBase64Url(modulus)}, {"e", EncodeBase64Url(exponent)}});
}

absl::StatusOr<std::unique_ptr<const VerificationKey>> VerificationKey::JwkReader::Read() {
  SIDEBAND_ASSIGN_OR_RETURN(auto entries, node_.Entries());
  members_ = std::map<std::string, YamlNode>(entries.begin(), entries.end());
  SIDEBAND_ASSIGN_OR_RETURN(std::string id, Text("kid"));
  if (id.size() > kKeyIdBytesMax) return Error("kid", absl::StrCat("kid is longer than ", kKeyIdBytesMax, " bytes"));
  key_->id_ = std::move(id);
  SIDEBAND_ASSIGN_OR_RETURN(const std::string type, Text("kty"));
  SIDEBAND_RETURN_IF_ERROR(CheckUse());
  SIDEBAND_RETURN_IF_ERROR(CheckOperations());
  if (type != "EC" && type != "RSA") return Error("kty", absl::StrCat("kty '", type, "' is neither EC nor RSA"));
  SIDEBAND_RETURN_IF_ERROR(type == "EC" ? Ec() : Rsa());
  return std::unique_ptr<const VerificationKey>(std::move(key_));
}

absl::StatusOr<std::unique_ptr<const VerificationKey>> VerificationKey::FromJwk(const YamlNode& node) {
  return JwkReader(node).Read();
}

absl::Status VerificationKey::Verify(absl::string_view token, const CompactJws& jws) const {
  if (jws.algorithm != algorithm_) {
    return BadToken(absl::StrCat("alg '", jws.algorithm, "' is not the key's, which is ", algorithm_));
  }
  // cjose splits an ES256 signature of any even length into halves.
  if (jws.signature.size() != signature_bytes_) return BadToken("the signature has the wrong length");
  cjose_err error{};
  cjose_jws_t* const imported = cjose_jws_import(token.data(), token.size(), &error);
  const bool good = imported != nullptr && cjose_jws_verify(imported, jwk_.get(), &error);
  cjose_jws_release(imported);
  // No error may stay in OpenSSL's queue, as after the import.
  ERR_clear_error();
  return good ? absl::OkStatus() : BadToken("the signature is wrong");
}

std::shared_ptr<const KeySet> KeySet::Parse(const std::string& text, const std::string& path, ErrorList& errors) {
  // `errors` may have errors of other files.
  const size_t before = errors.count();
  if (!errors.Add(CheckIsJsonObject(text, path))) return nullptr;
  const auto root = YamlNode::Parse(text, path, kKeySetBounds);
  std::vector<YamlNode> nodes;
  if (!errors.Add(root.status()) || !errors.Take(KeyNodes(*root), nodes)) return nullptr;
  std::shared_ptr<KeySet> set(new KeySet);
  for (const YamlNode& node : nodes) {
    std::unique_ptr<const VerificationKey> key;
    // Continues after a faulty key, so that all errors are reported at once.
    if (!errors.Take(VerificationKey::FromJwk(node), key)) continue;
    const std::string id = key->id();
    if (!set->keys_.emplace(id, std::move(key)).second) {
      errors.Add(node.Error(absl::StrCat("kid '", id, "' is given twice")));
    }
  }
  return errors.count() == before ? set : nullptr;
}

absl::StatusOr<std::shared_ptr<const KeySet>> KeySet::Parse(const std::string& text, const std::string& path) {
  ErrorList errors;
  auto set = Parse(text, path, errors);
  if (set == nullptr) return errors.First();
  return set;
}

const VerificationKey* KeySet::Find(absl::string_view key_id) const {
  const auto found = keys_.find(key_id);
  return found == keys_.end() ? nullptr : found->second.get();
}

std::shared_ptr<const KeySet> LoadKeySet(const std::string& path, ErrorList& errors) {
  std::string text;
  if (!errors.Take(ReadFile(path, kKeySetBytesMax, FileTrust::kNotWritable), text)) return nullptr;
  return KeySet::Parse(text, path, errors);
}

}  // namespace sideband::daemon

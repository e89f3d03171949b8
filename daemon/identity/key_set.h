// SPDX-License-Identifier: Apache-2.0
//
// A token as a JWS in its compact serialization (RFC 7515, 7.1), and the public keys that verify it, from a JWKS file
// (RFC 7517, 5). The file is read all or nothing.
//   SIDEBAND_ASSIGN_OR_RETURN(const CompactJws jws, ParseCompactJws(token));
//   const std::shared_ptr<const KeySet> keys = LoadKeySet("/etc/sideband/jwks.json", errors);
//   if (const VerificationKey* key = keys->Find(*jws.key_id)) return key->Verify(token, jws);
#ifndef SIDEBAND_DAEMON_IDENTITY_KEY_SET_H_
#define SIDEBAND_DAEMON_IDENTITY_KEY_SET_H_

#include <cjose/jwk.h>

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/errors.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

// Base64url of JOSE (RFC 7515, appendix C): without padding.
// DecodeBase64Url returns nullopt for every text that EncodeBase64Url does not produce: padding, spaces, other
// alphabets, spare bits that are set. Each byte string therefore has exactly one text, and no bit of a text can change
// unnoticed.
std::optional<std::string> DecodeBase64Url(absl::string_view text);
std::string EncodeBase64Url(absl::string_view bytes);

// INVALID_ARGUMENT unless the text is exactly one RFC 8259 object in UTF-8. A repeated name in any object is rejected,
// since parsers disagree on the value that counts.
absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view text);

// Returns the member's text; nullptr where the member is absent or not a string.
const std::string* FindString(const nlohmann::json& object, const char* name);

inline constexpr size_t kTokenBytesMax = 8192;

// The parts of a token, not yet verified.
struct CompactJws {
  std::string algorithm;              // from the header, unverified; must equal the key's algorithm
  std::optional<std::string> key_id;  // "kid"
  std::string payload;
  std::string signature;
};

// UNAUTHENTICATED "token: WHY".
absl::Status BadToken(absl::string_view why);

// Returns UNAUTHENTICATED with a reason for a token that is longer than kTokenBytesMax or is not three parts of strict
// base64url. The header must be strict JSON with an `alg`; a `kid` must be a string, and `typ` must be absent or that
// of a JWT. A `crit` is rejected, since no extension is supported.
absl::StatusOr<CompactJws> ParseCompactJws(absl::string_view token);

inline constexpr size_t kRsaBitsMin = 2048;
inline constexpr size_t kRsaBitsMax = 8192;
inline constexpr size_t kKeyIdBytesMax = 256;

// A public key that verifies token signatures, from a JWK (RFC 7517). The key determines the algorithm: P-256 is ES256,
// RSA is RS256. The algorithm in a token's header is only compared with it.
// Immutable, therefore thread-safe.
class VerificationKey {
 public:
  // INVALID_ARGUMENT with FILE:LINE for a private or symmetric key, a key without `kid`, of another type or curve, that
  // is not a point of the curve or not of kRsaBitsMin to kRsaBitsMax bits, or with another purpose (`use`, `key_ops`,
  // `alg`).
  static absl::StatusOr<std::unique_ptr<const VerificationKey>> FromJwk(const YamlNode& node);

  const std::string& id() const { return id_; }
  const std::string& algorithm() const { return algorithm_; }
  // `jws` must be ParseCompactJws(token). UNAUTHENTICATED with a reason unless this key has signed the token.
  absl::Status Verify(absl::string_view token, const CompactJws& jws) const;

 private:
  class JwkReader;
  struct Release {
    void operator()(cjose_jwk_t* jwk) const { cjose_jwk_release(jwk); }
  };

  VerificationKey() = default;

  std::string id_;
  std::string algorithm_;
  size_t signature_bytes_ = 0;
  std::unique_ptr<cjose_jwk_t, Release> jwk_;
};

inline constexpr size_t kKeysMax = 64;

// Immutable, therefore thread-safe.
class KeySet {
 public:
  // INVALID_ARGUMENT "FILE:LINE: key 'kid': DESCRIPTION" for the first error. An empty set is rejected: it verifies no
  // token, and a daemon without tokens configures no key file. `path` is for messages.
  static absl::StatusOr<std::shared_ptr<const KeySet>> Parse(const std::string& text, const std::string& path);
  // Does the same, but appends every error to `errors`; returns nullptr after an error.
  static std::shared_ptr<const KeySet> Parse(const std::string& text, const std::string& path, ErrorList& errors);

  size_t size() const { return keys_.size(); }
  // Returns nullptr for an unknown `key_id`.
  const VerificationKey* Find(absl::string_view key_id) const;

 private:
  KeySet() = default;

  absl::flat_hash_map<std::string, std::unique_ptr<const VerificationKey>> keys_;  // by kid
};

// Reads the file at `path`. Returns nullptr after an error: those of KeySet::Parse, an unreadable file, or a
// world-writable file (FileTrust::kNotWritable). Every error is appended to `errors`.
std::shared_ptr<const KeySet> LoadKeySet(const std::string& path, ErrorList& errors);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_KEY_SET_H_

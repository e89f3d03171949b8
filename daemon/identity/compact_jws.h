// SPDX-License-Identifier: Apache-2.0
//
// The parts of a JWS in its compact serialization (RFC 7515, 7.1), not yet verified; and what they are made of:
// base64url, and JSON from hostile input.
//   SIDEBAND_ASSIGN_OR_RETURN(const CompactJws jws, ParseCompactJws(token));
#ifndef SIDEBAND_DAEMON_IDENTITY_COMPACT_JWS_H_
#define SIDEBAND_DAEMON_IDENTITY_COMPACT_JWS_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_COMPACT_JWS_H_

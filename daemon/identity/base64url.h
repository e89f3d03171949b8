// SPDX-License-Identifier: Apache-2.0
//
// Base64url of JOSE (RFC 7515, appendix C): without padding.
//   const std::optional<std::string> bytes = DecodeBase64Url("AQAB");
#ifndef SIDEBAND_DAEMON_IDENTITY_BASE64URL_H_
#define SIDEBAND_DAEMON_IDENTITY_BASE64URL_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace sideband::daemon {

// DecodeBase64Url returns nullopt for every text that EncodeBase64Url does not produce: padding, spaces, other
// alphabets, spare bits that are set. Each byte string therefore has exactly one text, and no bit of a text can change
// unnoticed.
std::optional<std::string> DecodeBase64Url(absl::string_view text);
std::string EncodeBase64Url(absl::string_view bytes);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_BASE64URL_H_

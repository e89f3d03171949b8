// SPDX-License-Identifier: Apache-2.0
//
// Base64url as JOSE has it (RFC 7515, appendix C): without padding.
//   const std::optional<std::string> bytes = DecodeBase64Url("AQAB");
#ifndef SIDEBAND_DAEMON_AUTHZ_BASE64URL_H_
#define SIDEBAND_DAEMON_AUTHZ_BASE64URL_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace sideband::daemon {

// nullopt for whatever EncodeBase64Url would not have written: padding, spaces, other alphabets, spare bits that are
// set. So one byte string has one text, and no bit of a text can change without notice.
std::optional<std::string> DecodeBase64Url(absl::string_view text);
std::string EncodeBase64Url(absl::string_view bytes);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_BASE64URL_H_

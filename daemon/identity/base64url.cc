// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/base64url.h"

#include "absl/strings/escaping.h"

namespace sideband::daemon {

std::optional<std::string> DecodeBase64Url(absl::string_view text) {
  std::string bytes;
  // Abseil's decoder also accepts texts that its encoder never produces.
  if (!absl::WebSafeBase64Unescape(text, &bytes) || EncodeBase64Url(bytes) != text) return std::nullopt;
  return bytes;
}

std::string EncodeBase64Url(absl::string_view bytes) { return absl::WebSafeBase64Escape(bytes); }

}  // namespace sideband::daemon

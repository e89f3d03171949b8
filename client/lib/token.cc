// SPDX-License-Identifier: Apache-2.0
#include "client/lib/token.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::client {

absl::StatusOr<std::string> LoadToken(const std::string& path) {
  constexpr size_t kSpaceAround = 64;
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kTokenBytesMax + kSpaceAround));
  // Windows' editors and shells begin files with a byte order mark.
  if (absl::StartsWith(text, "\xFF\xFE") || absl::StartsWith(text, "\xFE\xFF")) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": a text in UTF-16: save it as plain text (UTF-8)"));
  }
  std::string token(absl::StripAsciiWhitespace(absl::StripPrefix(text, "\xEF\xBB\xBF")));
  if (token.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no token in it"));
  if (token.size() > kTokenBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": longer than ", kTokenBytesMax, " bytes"));
  }
  // Other characters are not valid in a header field.
  const bool is_one_word = std::all_of(token.begin(), token.end(), [](char c) { return absl::ascii_isgraph(c); });
  if (!is_one_word) return absl::InvalidArgumentError(absl::StrCat(path, ": more than one token, or none"));
  return token;
}

std::optional<absl::Time> TokenExpiry(const std::string& token) {
  const std::vector<std::string> parts = absl::StrSplit(token, '.');
  std::string claims;
  if (parts.size() != 3 || !absl::WebSafeBase64Unescape(parts[1], &claims)) return std::nullopt;
  // The claims are read without verification, for error messages only.
  const auto json = nlohmann::json::parse(claims, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("exp") || !json["exp"].is_number()) return std::nullopt;
  return absl::UnixEpoch() + absl::Seconds(json["exp"].get<double>());
}

}  // namespace sideband::client

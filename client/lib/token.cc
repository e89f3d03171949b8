// SPDX-License-Identifier: Apache-2.0
#include "client/lib/token.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::client {

absl::StatusOr<std::string> LoadToken(const std::string& path) {
  constexpr size_t kSpaceAround = 64;
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kTokenBytesMax + kSpaceAround));
  std::string token(absl::StripAsciiWhitespace(text));
  if (token.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no token in it"));
  if (token.size() > kTokenBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": longer than ", kTokenBytesMax, " bytes"));
  }
  const bool is_one_word = std::all_of(token.begin(), token.end(), [](char c) { return absl::ascii_isgraph(c); });
  if (!is_one_word) return absl::InvalidArgumentError(absl::StrCat(path, ": more than one token, or none"));
  return token;
}

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/bearer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace sideband::daemon {

std::string BearerToken(absl::string_view authorization) {
  constexpr absl::string_view kScheme = "Bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kScheme)) return "";
  return std::string(absl::StripAsciiWhitespace(authorization.substr(kScheme.size())));
}

}  // namespace sideband::daemon

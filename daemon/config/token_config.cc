// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/token_config.h"

#include "daemon/config/readable_file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

absl::StatusOr<std::optional<TokenConfig>> ReadTokenConfig(const YamlMap& config, const std::filesystem::path& folder) {
  const auto section = config.Find("tokens");
  if (!section) return std::nullopt;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, section->Map({"jwks_file", "audience", "issuer"}));
  TokenConfig tokens;
  SIDEBAND_ASSIGN_OR_RETURN(tokens.jwks_file, ReadableFile(map, "jwks_file", folder));
  SIDEBAND_ASSIGN_OR_RETURN(tokens.audience, map.String("audience"));
  if (const auto issuer = map.Find("issuer")) {
    SIDEBAND_ASSIGN_OR_RETURN(tokens.issuer, issuer->String());
  }
  return tokens;
}

}  // namespace sideband::daemon

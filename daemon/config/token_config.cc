// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/token_config.h"

namespace sideband::daemon {

std::optional<TokenConfig> ReadTokenConfig(const YamlMap& root, const ConfigContext& context) {
  if (!root.Find("tokens")) return std::nullopt;
  TokenConfig tokens;
  const auto map = context.Section(root, "tokens", {"jwks_file", "audience", "issuer"});
  if (!map) return tokens;
  tokens.jwks_file = context.ReadableFile(*map, "jwks_file", FileTrust::kNotWritable);
  context.errors.Take(map->String("audience"), tokens.audience);
  context.errors.Take(map->StringOr("issuer", ""), tokens.issuer);
  return tokens;
}

}  // namespace sideband::daemon

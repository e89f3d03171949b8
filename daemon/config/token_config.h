// SPDX-License-Identifier: Apache-2.0
//
// The section `tokens` of the configuration: which bearer tokens are accepted.
//   config.tokens = ReadTokenConfig(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_TOKEN_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_TOKEN_CONFIG_H_

#include <optional>
#include <string>

#include "daemon/config/config_context.h"

namespace sideband::daemon {

struct TokenConfig {
  std::string jwks_file;  // daemon/identity/key_set.h
  std::string audience;
  std::string issuer;  // empty: any issuer
};

// `root` is the whole configuration. nullopt if the section is absent: no token is accepted.
std::optional<TokenConfig> ReadTokenConfig(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_TOKEN_CONFIG_H_

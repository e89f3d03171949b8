// SPDX-License-Identifier: Apache-2.0
//
// The configuration's section `tokens`: whose bearer tokens count.
//   tokens: {jwks_file: jwks.json, audience: sideband, issuer: "https://issuer.example.org"}
#ifndef SIDEBAND_DAEMON_CONFIG_TOKEN_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_TOKEN_CONFIG_H_

#include <filesystem>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

struct TokenConfig {
  std::string jwks_file;  // daemon/authz/key_set.h
  std::string audience;
  std::string issuer;  // empty: any
};

// nullopt where the section is absent: then no token counts. Errors have FILE:LINE; relative paths are from `folder`.
absl::StatusOr<std::optional<TokenConfig>> ReadTokenConfig(const YamlMap& config, const std::filesystem::path& folder);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_TOKEN_CONFIG_H_

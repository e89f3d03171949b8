// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "daemon/config/config.h"
#include "daemon/config/config_context.h"
#include "daemon/config/device_config.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/config/listener_config.h"
#include "daemon/config/sections.h"
#include "daemon/config/tls_files.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {
namespace {

void UseSections(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/sections.h
}

void UseConfig() {
  //@ daemon/config/config.h
}

void UseConfigContext(const std::string& path, const std::filesystem::path& folder, const YamlMap& root,
                      Config& config) {
  //@ daemon/config/config_context.h
}

void UseDeviceConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/device_config.h
}

void UseFakeCertificates() {
  //@ daemon/config/fake_certificates.h
}

void UseListenerConfig(const YamlMap& root, bool has_tokens, const ConfigContext& context, Config& config) {
  //@ daemon/config/listener_config.h
}

absl::Status UseTlsFiles(const ListenerConfig& config) {
  //@ daemon/config/tls_files.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon

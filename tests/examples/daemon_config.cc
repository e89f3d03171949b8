// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "daemon/config/audit_config.h"
#include "daemon/config/config.h"
#include "daemon/config/config_context.h"
#include "daemon/config/counting_config.h"
#include "daemon/config/device_config.h"
#include "daemon/config/exposition_config.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/config/history_config.h"
#include "daemon/config/listen_address.h"
#include "daemon/config/listener_config.h"
#include "daemon/config/local_operators.h"
#include "daemon/config/log_config.h"
#include "daemon/config/mark_config.h"
#include "daemon/config/one_of.h"
#include "daemon/config/peek_config.h"
#include "daemon/config/private_key.h"
#include "daemon/config/quota_config.h"
#include "daemon/config/ratio_config.h"
#include "daemon/config/read_section.h"
#include "daemon/config/target_config.h"
#include "daemon/config/tls_files.h"
#include "daemon/config/token_config.h"
#include "proto/base/error_list.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {
namespace {

void UseAuditConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/audit_config.h
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

void UseHistoryConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/history_config.h
}

void UseExpositionConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/exposition_config.h
}

void UseLogConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/log_config.h
}

absl::Status UseListenAddress() {
  //@ daemon/config/listen_address.h
  return absl::OkStatus();
}

void UseListenerConfig(const YamlMap& root, bool has_tokens, const ConfigContext& context, Config& config) {
  //@ daemon/config/listener_config.h
}

absl::Status UseLocalOperators() {
  //@ daemon/config/local_operators.h
  return absl::OkStatus();
}

void UseOneOf(const YamlMap& map, ErrorList& errors, TlsServerConfig& tls) {
  //@ daemon/config/one_of.h
}

absl::Status UsePrivateKey(SSL_CTX* context) {
  //@ daemon/config/private_key.h
  return absl::OkStatus();
}

void UseCountingConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/counting_config.h
}

void UsePeekConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/peek_config.h
}

void UseQuotaConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/quota_config.h
}

void UseRatioConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/ratio_config.h
}

void UseReadSection() {
  //@ daemon/config/read_section.h
}

absl::Status UseTlsFiles(const ListenerConfig& config) {
  //@ daemon/config/tls_files.h
  return absl::OkStatus();
}

void UseTargetConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/target_config.h
}

void UseTokenConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/token_config.h
}

void UseMarkConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/mark_config.h
}

}  // namespace
}  // namespace sideband::daemon

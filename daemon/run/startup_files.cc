// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/startup_files.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/config/device_config.h"
#include "daemon/config/tls_files.h"
#include "proto/base/errors.h"
#include "proto/base/text.h"
#include "proto/envelope/keys.h"
#include "proto/exchange/sealing_file.h"

namespace sideband::daemon {
namespace {

// A path that could not be read is empty: its error was already reported at the configuration key.
void CheckTls(const ListenerConfig& listener, ErrorList& errors) {
  const TlsServerConfig& tls = listener.tls;
  const bool has_authority = tls.client_auth == ClientAuth::kNone || !tls.client_ca_file.empty();
  const bool is_readable = !tls.cert_file.empty() && !tls.key_file.empty() && has_authority;
  if (listener.on_network && is_readable) CheckTlsFiles(tls, errors);
}

bool HaveSameTls(const ListenerConfig& a, const ListenerConfig& b) {
  return a.on_network && b.on_network && a.tls == b.tls;
}

// A partition of a device that is not configured is a typing error.
void CheckPartitions(const Policy& policy, const std::vector<DeviceConfig>& devices, ErrorList& errors) {
  std::vector<std::string> names;
  for (const DeviceConfig& device : devices) names.push_back(device.name);
  for (const Tenant& tenant : policy.tenants()) {
    for (const PartitionGrant& grant : tenant.partitions) {
      if (std::ranges::count(names, grant.device) > 0) continue;
      errors.Add(absl::InvalidArgumentError(absl::StrCat(policy.path(), ":", grant.line, ": device '", grant.device,
                                                         "' is not configured", DidYouMean(grant.device, names))));
    }
  }
}

}  // namespace

StartupFiles ReadStartupFiles(const std::string& config_file, ErrorList& errors) {
  StartupFiles files{.config = LoadConfig(config_file, errors)};
  const Config& config = files.config;
  if (!config.policy_file.empty()) files.policy = LoadPolicy(config.policy_file, errors);
  if (files.policy != nullptr) CheckPartitions(*files.policy, config.devices, errors);
  const bool has_keys = config.tokens && !config.tokens->jwks_file.empty();
  if (has_keys) files.keys = LoadKeySet(config.tokens->jwks_file, errors);
  CheckTls(config.grpc.listener, errors);
  // Otherwise the same errors would be reported twice.
  if (!HaveSameTls(config.grpc.listener, config.http.listener)) CheckTls(config.http.listener, errors);
  for (const VmKeyConfig& key : config.vm_keys) {
    if (!key.key_file.empty()) errors.Add(envelope::LoadStaticKey(key.key_file).status());
  }
  if (!config.sealing_file.empty()) errors.Add(exchange::SealingRules::Load(config.sealing_file).status());
  return files;
}

}  // namespace sideband::daemon

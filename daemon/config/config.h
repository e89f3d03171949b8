// SPDX-License-Identifier: Apache-2.0
//
// The configuration of sidebandd: devices, listeners, policy, keys. README.md has the format with a complete example.
//   ErrorList errors;
//   const Config config = LoadConfig("/etc/sideband/sidebandd.yaml", errors);
#ifndef SIDEBAND_DAEMON_CONFIG_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/config/device_config.h"
#include "daemon/config/listener_config.h"
#include "daemon/config/sections.h"
#include "proto/base/errors.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

struct VmKeyConfig {
  Uuid vm;
  std::string key_file;
  std::string place;  // "FILE:LINE", where the VM is named
};

struct Config {
  std::vector<DeviceConfig> devices;  // at least one
  RatioConfig ratios;                 // for every device that counts their events
  GrpcConfig grpc;
  HttpConfig http;
  LocalOperators local_operators;
  QuotaConfig quotas;
  std::string policy_file;
  DeviceSettings counting;                          // what devices are to count
  std::optional<std::vector<TargetGroup>> targets;  // nullopt: no file is configured
  std::optional<TokenConfig> tokens;
  std::vector<VmKeyConfig> vm_keys;
  std::string sealing_file;  // of exchanges of keys (proto/exchange); empty: there are none
  AuditConfig audit;
  HistoryConfig history;
  ExpositionConfig exposition;
  MarkConfig marks;
  PeekConfig peek;
  LogConfig log;
  std::string state_dir;   // persistent state; empty: the default location (README.md)
  std::string ports_file;  // receives the bound ports; empty: not written
};

// Reads the configuration file. All paths in the result are absolute or relative to the working directory, like `path`.
// Each error is one line with FILE:LINE and is added to `errors`. A named file that cannot be read or is world-writable
// is an error at the key that names it. The result is valid only if no error was added.
Config LoadConfig(const std::string& path, ErrorList& errors);
// Like LoadConfig, for `text` as the content of the file at `path`.
Config ParseConfig(const std::string& text, const std::string& path, ErrorList& errors);
// Like LoadConfig, but returns the first error.
absl::StatusOr<Config> LoadConfig(const std::string& path);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_CONFIG_H_

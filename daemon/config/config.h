// SPDX-License-Identifier: Apache-2.0
//
// The configuration of sidebandd: devices, BMCs, listeners, policy, keys, and sections that are a few settings each.
// README.md has the format with a complete example.
//   ErrorList errors;
//   const Config config = LoadConfig("/etc/sideband/sidebandd.yaml", errors);
#ifndef SIDEBAND_DAEMON_CONFIG_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/config/bmc_config.h"
#include "daemon/config/config_context.h"
#include "daemon/config/device_config.h"
#include "daemon/config/listener_config.h"
#include "daemon/counting/settings_file.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/ratio.h"
#include "proto/base/errors.h"
#include "proto/base/uuid.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

// The sections that are a few settings each. For each function `root` is the whole configuration, and errors are added
// to the context's.

// The daemons of a fleet, which Prometheus requests at /sd. The file has the format of Prometheus' file_sd, YAML or
// JSON: a list of groups, such as {targets: ["gpu-host-1.example.org:9877"], labels: {rack: r1}}.
struct TargetGroup {
  std::vector<std::string> targets;           // "HOST:PORT"; at least one
  std::map<std::string, std::string> labels;  // of all series of these targets
};

// The content of the file under `targets_file`; nullopt without that key.
std::optional<std::vector<TargetGroup>> ReadTargets(const YamlMap& root, const ConfigContext& context);

// The section `audit`: the file and limits of the audit log.
struct AuditConfig {
  std::string file;  // empty: no audit log
  uint64_t max_bytes = 16 << 20;
  size_t files = 8;  // number of older files kept

  bool operator==(const AuditConfig&) const = default;
};

// The file may be missing; its folder must exist.
AuditConfig ReadAuditConfig(const YamlMap& root, const ConfigContext& context);

// `counting_file`: what devices are to count (daemon/counting/README.md). Empty without the key. A device that is not
// among `devices` is an error.
DeviceSettings ReadCountingConfig(const YamlMap& root, const std::vector<DeviceConfig>& devices,
                                  const ConfigContext& context);

// The section `exposition`: what /metrics tells of estimates.
struct ExpositionConfig {
  EstimateSeries estimates = EstimateSeries::kAll;
};

// `estimates: all|coverage|none`.
ExpositionConfig ReadExpositionConfig(const YamlMap& root, const ConfigContext& context);

// The section `history`: the memory limit of the history.
struct HistoryConfig {
  // For all devices together; 0: no history is kept.
  size_t max_bytes = size_t{16} << 20;
};

// Without the section the defaults apply.
HistoryConfig ReadHistoryConfig(const YamlMap& root, const ConfigContext& context);

// The section `log`.
enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
// kAuto: the journal if standard output is connected to it, else text.
enum class LogFormat : uint8_t { kAuto, kText, kLogfmt, kJson, kJournal };

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kAuto;
};

LogConfig ReadLogConfig(const YamlMap& root, const ConfigContext& context);

// The section `marks`: how many marks each VM may set, and how many are kept.
struct MarkConfig {
  uint32_t per_vm_per_second = 10;
  uint32_t kept = 1024;  // of each VM, the newest

  bool operator==(const MarkConfig&) const = default;
};

// Without the section the defaults apply.
MarkConfig ReadMarkConfig(const YamlMap& root, const ConfigContext& context);

// The section `peek`: the bus time for peeks.
struct PeekConfig {
  // The share of each device's bus time for peeks, which share it with snapshots. 0: peeks are switched off; else 0.001
  // to 1.
  double bus_share = 0.1;
};

// Without the section the defaults apply.
PeekConfig ReadPeekConfig(const YamlMap& root, const ConfigContext& context);

// The section `quotas`: limits of one identity on the gRPC server. A call beyond any of them fails with
// RESOURCE_EXHAUSTED.
struct QuotaConfig {
  int calls_per_second = 50;  // average rate of calls and stream starts
  int burst = 100;            // calls at once after a pause
  size_t calls_under_way = 128;
  size_t bytes_under_way = size_t{32} << 20;  // responses not yet read by the client
  size_t streams = 64;

  bool operator==(const QuotaConfig&) const = default;
};

// Without the section the defaults apply.
QuotaConfig ReadQuotaConfig(const YamlMap& root, const ConfigContext& context);

// The section `ratios`: an event that a ratio names.
struct RatioEvent {
  std::string name;
  std::string place;  // "FILE:LINE"
};

struct RatioConfig {
  std::vector<RatioSpec> ratios;
  std::vector<RatioEvent> events;  // of all ratios, in the file's order
};

// Empty if the section is absent. Errors: a name that is not a metric name or occurs twice, and a list of events that
// is empty or contains an event twice. Whether a device counts the events is known only after the device was read
// (daemon/authz/absent_names.h).
RatioConfig ReadRatios(const YamlMap& root, const ConfigContext& context);

// The section `tokens`: which bearer tokens are accepted.
struct TokenConfig {
  std::string jwks_file;  // daemon/identity/key_set.h
  std::string audience;
  std::string issuer;  // empty: any issuer
};

// nullopt if the section is absent: no token is accepted.
std::optional<TokenConfig> ReadTokenConfig(const YamlMap& root, const ConfigContext& context);

struct VmKeyConfig {
  Uuid vm;
  std::string key_file;
  std::string place;  // "FILE:LINE", where the VM is named
};

struct Config {
  std::vector<DeviceConfig> devices;  // at least one, unless there are BMCs
  std::vector<BmcConfig> bmcs;
  RatioConfig ratios;  // for every device that counts their events
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

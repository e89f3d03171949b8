// SPDX-License-Identifier: Apache-2.0
//
// What sidebandd is told at start: devices, listeners, policy, keys. README.md has the format with a full example.
//   SIDEBAND_ASSIGN_OR_RETURN(const Config config, LoadConfig("/etc/sideband/sidebandd.yaml"));
#ifndef SIDEBAND_DAEMON_CONFIG_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/config/audit_config.h"
#include "daemon/config/history_config.h"
#include "daemon/config/listen_address.h"
#include "daemon/config/local_operators.h"
#include "daemon/config/token_config.h"
#include "daemon/model/ratio.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

inline constexpr size_t kDevicesMax = 256;

enum class SealingMode { kDaemon };
enum class TlsVersion { kTls12, kTls13 };
// What a client must show in the TLS handshake. Whatever is shown is verified.
enum class ClientAuth { kRequireAndVerify, kVerifyIfGiven, kNone };
enum class LogLevel { kDebug, kInfo, kWarn, kError };

struct DeviceConfig {
  std::string name;  // [A-Za-z0-9_.-]+, unique
  std::string bus;   // as written, for the transport to parse: "unix:PATH@0x4f", "i2c:/dev/i2c-3@0x4f"
  absl::Duration interval = absl::Seconds(1);
  uint32_t bus_hz = 0;  // SCL; 0 for a virtual bus that was not given a speed
  SealingMode sealing = SealingMode::kDaemon;
  std::string capture_file;  // where what passes the bus is kept, in the clear; empty: nowhere
};

// With kRequireAndVerify a client without a certificate from this CA does not get past the handshake.
struct TlsServerConfig {
  std::string cert_file;       // PEM: the server's certificate, then intermediates
  std::string key_file;        // PEM, unencrypted
  std::string client_ca_file;  // PEM; empty exactly with kNone
  TlsVersion min_version = TlsVersion::kTls13;
  ClientAuth client_auth = ClientAuth::kRequireAndVerify;
};

// On the network with TLS, on a Unix socket for local operators, or both.
struct ListenerConfig {
  ListenAddress listen;
  TlsServerConfig tls;
  bool on_network = true;   // false: `listen` and `tls` mean nothing
  std::string unix_socket;  // its path; empty: none
};

struct GrpcConfig {
  ListenerConfig listener;
  bool reflection = false;
};

struct VmKeyConfig {
  Uuid vm;
  std::string key_file;
  std::string place;  // "FILE:LINE", where the VM is named
};

struct Config {
  std::vector<DeviceConfig> devices;  // at least one
  std::vector<RatioSpec> ratios;      // of every device that counts their events
  GrpcConfig grpc;
  ListenerConfig http;
  LocalOperators local_operators;
  std::string policy_file;
  std::optional<TokenConfig> tokens;
  std::vector<VmKeyConfig> vm_keys;
  AuditConfig audit;
  HistoryConfig history;
  LogLevel log_level = LogLevel::kInfo;
  std::string ports_file;  // where the chosen ports are to be written; empty: nowhere
};

// All paths in the result are absolute or relative to the working directory, as `path` is. Every error is one line with
// FILE:LINE; a file that the configuration names and that cannot be read is an error at the key that names it.
absl::StatusOr<Config> LoadConfig(const std::string& path);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_CONFIG_H_

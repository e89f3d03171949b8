// SPDX-License-Identifier: Apache-2.0
//
// The section `bmcs` of the configuration: BMCs whose Redfish service reports on GPUs (docs/bmc.md).
// README.md has an example of it.
//   config.bmcs = ReadBmcs(root, config.devices, context);
#ifndef SIDEBAND_DAEMON_CONFIG_BMC_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_BMC_CONFIG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/config/config_context.h"
#include "daemon/config/device_config.h"

namespace sideband::daemon {

inline constexpr size_t kBmcsMax = 64;
// Devices of one BMC, listed or discovered. An index in a discovered name is below it.
inline constexpr size_t kBmcDevicesMax = 256;

// The digest of a certificate's public key (SubjectPublicKeyInfo, DER), SHA-256. It is neither that of the certificate,
// which `openssl x509 -fingerprint` prints, nor changed by a new certificate of the same key.
using KeyPin = std::array<uint8_t, 32>;

struct BmcDevice {
  std::string name;  // as DeviceConfig::name, and unique among all devices
  std::string id;    // of the processor, such as GPU_SXM_1, or its UUID; [A-Za-z0-9_.-]+, in either case

  bool operator==(const BmcDevice&) const = default;
};

struct BmcConfig {
  std::string name;  // as DeviceConfig::name; unique among BMCs
  std::string url;   // as given; without a login
  std::string host;  // a name in lower case, or an address, without brackets
  uint16_t port = 443;
  std::string prefix;  // of all paths, "/hmc" or empty; without a slash at its end
  // Trust in the BMC's certificate. Exactly one of them is given.
  std::string ca_file;        // PEM; the certificate must also be for `host`
  std::optional<KeyPin> pin;  // of the BMC's own certificate, whose names and dates then do not matter
  // Either a login or a token that another program has made. Exactly one of the files is given, and `user` with the
  // first. Each is a file that other users cannot access; no more than its first byte is read here.
  std::string user, password_file, session_token_file;
  uint32_t requests_per_minute = 40;           // 1 to 120
  absl::Duration interval = absl::Seconds(5);  // 5 s to 1 h: the shortest period of a kind of values
  absl::Duration timeout = absl::Seconds(15);  // of a request, 1 s to 2 min
  bool has_links = false;                      // whether each NVLink is read, from two large reports
  // Names of discovered devices, with "{index}" once; "NAME-gpu{index}" without the key. Empty if `devices` lists them.
  std::string device_pattern;
  std::vector<BmcDevice> devices;

  bool operator==(const BmcConfig&) const = default;
};

// The name of a discovered device of `bmc`, which must have a pattern. `index` is the number in the processor's id, as
// 3 in GPU_SXM_3: an absent GPU does not rename the others.
std::string DiscoveredName(const BmcConfig& bmc, size_t index);
// Whether `name` is DiscoveredName() of an index below kBmcDevicesMax; false without a pattern.
bool IsDiscoveredName(const BmcConfig& bmc, absl::string_view name);

// `root` is the whole configuration, and `devices` those of its other section: no two devices may have one name,
// whether configured, listed, or possibly discovered. Empty without the section.
std::vector<BmcConfig> ReadBmcs(const YamlMap& root, const std::vector<DeviceConfig>& devices,
                                const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_BMC_CONFIG_H_

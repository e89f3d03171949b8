// SPDX-License-Identifier: Apache-2.0
//
// The daemon's configuration. An accepted configuration authenticates clients on every listener and keeps all bounds; a
// rejected one has errors with file and line.
#include <sys/stat.h>

#include <fstream>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/config/config.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/given_files.h"

namespace sideband::fuzz {
namespace {

// A folder with one file, f, which a configuration can name as any of its files.
class Site {
 public:
  Site() {
    const std::string path = folder() + "/f";
    std::ofstream(path) << "content is looked at elsewhere\n";
    chmod(path.c_str(), S_IRUSR | S_IWUSR);
  }
  const std::string& folder() const { return folder_.path(); }

 private:
  const ScratchFolder folder_;
};

void CheckListener(const daemon::Config& config, const daemon::ListenerConfig& listener) {
  FUZZ_CHECK(listener.on_network || !listener.unix_socket.empty());
  if (!listener.on_network) return;
  const daemon::TlsServerConfig& tls = listener.tls;
  FUZZ_CHECK(!tls.cert_file.empty() && !tls.key_file.empty());
  FUZZ_CHECK(tls.client_ca_file.empty() == (tls.client_auth == daemon::ClientAuth::kNone));
  FUZZ_CHECK(tls.client_auth == daemon::ClientAuth::kRequireAndVerify || config.tokens.has_value());
}

// A BMC is verified before it gets the login or the token, of which it has one, and no two devices share a name.
void CheckBmc(const daemon::BmcConfig& bmc, std::set<std::string>& names) {
  FUZZ_CHECK(!bmc.name.empty() && !bmc.host.empty() && bmc.port != 0);
  FUZZ_CHECK(bmc.prefix.empty() || (bmc.prefix.front() == '/' && bmc.prefix.back() != '/'));
  FUZZ_CHECK(bmc.ca_file.empty() == bmc.pin.has_value());
  FUZZ_CHECK(bmc.password_file.empty() != bmc.session_token_file.empty());
  FUZZ_CHECK(bmc.user.empty() == bmc.password_file.empty());
  FUZZ_CHECK(bmc.interval >= absl::Seconds(5) && bmc.requests_per_minute >= 1 && bmc.requests_per_minute <= 120);
  FUZZ_CHECK(bmc.device_pattern.empty() != bmc.devices.empty());
  for (const daemon::BmcDevice& device : bmc.devices) FUZZ_CHECK(names.insert(device.name).second);
  if (bmc.device_pattern.empty()) return;
  for (const size_t index : {size_t{0}, daemon::kBmcDevicesMax - 1}) {
    const std::string name = daemon::DiscoveredName(bmc, index);
    FUZZ_CHECK(daemon::IsDiscoveredName(bmc, name) && names.insert(name).second);
  }
}

void CheckConfig(const daemon::Config& config) {
  FUZZ_CHECK(!config.devices.empty() || !config.bmcs.empty());
  FUZZ_CHECK(config.devices.size() <= daemon::kDevicesMax && config.bmcs.size() <= daemon::kBmcsMax);
  std::set<std::string> names;
  for (const daemon::DeviceConfig& device : config.devices) {
    FUZZ_CHECK(!device.name.empty() && names.insert(device.name).second);
    FUZZ_CHECK(device.interval >= absl::Milliseconds(10) && device.interval <= absl::Hours(1));
    FUZZ_CHECK(!device.bus.empty());
  }
  for (const daemon::BmcConfig& bmc : config.bmcs) CheckBmc(bmc, names);
  CheckListener(config, config.grpc.listener);
  CheckListener(config, config.http.listener);
  std::set<Uuid> vms;
  for (const daemon::VmKeyConfig& key : config.vm_keys) {
    FUZZ_CHECK(vms.insert(key.vm).second && !key.key_file.empty() && !key.place.empty());
  }
  for (const daemon::RatioSpec& ratio : config.ratios.ratios) {
    FUZZ_CHECK(!ratio.name.empty() && !ratio.numerator.empty() && !ratio.denominator.empty());
  }
  FUZZ_CHECK(!config.policy_file.empty());
  FUZZ_CHECK(config.quotas.calls_per_second > 0 && config.quotas.burst > 0 && config.quotas.streams > 0);
}

std::vector<Bytes> Seeds() {
  constexpr char kTls[] = "{cert_file: f, key_file: f, client_ca_file: f}";
  const std::string least = absl::StrCat("devices: [{name: g, bus: \"unix:g@0x4f\"}]\ngrpc: {tls_server_config: ", kTls,
                                         "}\nhttp: {unix_socket: s}\npolicy_file: f\n");
  return {BytesOf(least), BytesOf(absl::StrCat(least, R"(
ratios:
  - {name: hit, numerator: [a], denominator: [a, b]}
local_operators: {users: [root, 7], groups: [0]}
quotas: {calls_per_second: 1, burst: 2, calls_under_way: 3, bytes_under_way: 16MiB, streams: 4}
tokens: {jwks_file: f, audience: a, issuer: i}
sealing: {vm_keys: [{vm: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, key_file: f}]}
audit: {file: a, max_bytes: 64KiB, files: 1}
history: {max_bytes: 1MiB}
log: {level: debug}
ports_file: p
)")),
          BytesOf(R"(devices:
  - name: gpu0
    bus: "i2c:/dev/i2c-3@0x4f"
    bus_hz: 400000
    interval: 250ms
    capture: c
    capture_plaintext: true
grpc:
  listen: "[::1]:0"
  tls_server_config: {cert_file: f, key_file: f, client_auth_type: NoClientCert, min_version: TLS12}
  reflection: true
http:
  listen: "127.0.0.1:9877"
  tls_server_config: {cert_file: f, key_file: f, client_ca_file: f, client_auth_type: VerifyClientCertIfGiven}
  unix_socket: s
tokens: {jwks_file: f, audience: a}
policy_file: f
)"),
          BytesOf(R"(bmcs:
  - name: b
    url: https://192.0.2.10:8443/hmc
    ca_file: f
    user: u
    password_file: f
    requests_per_minute: 60
    interval: 10s
    timeout: 20s
    devices: {name: "n-gpu{index}"}
  - name: c
    url: "https://[2001:db8::10]"
    pin_sha256: sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
    session_token_file: f
    devices: [{name: gpu0, id: GPU_SXM_1}]
grpc: {unix_socket: g}
http: {unix_socket: s}
policy_file: f
)")};
}

int RunInput(const uint8_t* data, size_t size) {
  static const fuzz::Site site;
  const std::string path = site.folder() + "/c.yaml";
  ErrorList errors;
  const daemon::Config config =
      daemon::ParseConfig(std::string(reinterpret_cast<const char*>(data), size), path, errors);
  if (errors.empty()) fuzz::CheckConfig(config);
  for (const absl::Status& error : errors.All()) {
    const bool is_last_word = error.message().substr(0, 4) == "and ";  // the number of omitted errors
    FUZZ_CHECK(absl::StartsWith(error.message(), path + ":") || is_last_word);
  }
  return 0;
}

FUZZ_TARGET(config_fuzz);

}  // namespace
}  // namespace sideband::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/config/ratio_config.h"
#include "daemon/config/readable_file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"
#include "proto/smbus/bus_name.h"

namespace sideband::daemon {
namespace {

// SMBus' standard mode, the slowest that it allows, and I2C's fastest.
constexpr uint64_t kBusHzDefault = 100'000;
constexpr uint64_t kBusHzMin = 10'000;
constexpr uint64_t kBusHzMax = 5'000'000;
// What sockaddr_un holds, with its terminating zero.
constexpr size_t kUnixPathBytesMax = 107;
constexpr absl::Duration kIntervalMin = absl::Milliseconds(10);
constexpr absl::Duration kIntervalMax = absl::Hours(1);

// A word with its meaning.
template <typename T>
using Words = std::initializer_list<std::pair<std::string, T>>;

template <typename T>
absl::StatusOr<T> OneOf(const YamlNode& node, Words<T> words) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  std::vector<std::string> known;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    known.push_back(word);
  }
  return node.Error(absl::StrCat("'", text, "' is unknown", MustBeOneOf(known)));
}

template <typename T>
absl::StatusOr<T> OneOfOr(const YamlMap& map, const std::string& key, T otherwise, Words<T> words) {
  const auto node = map.Find(key);
  return node ? OneOf(*node, words) : otherwise;
}

bool IsLabelSafe(absl::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

// Knows the folder from which relative paths are counted.
class ConfigReader {
 public:
  explicit ConfigReader(const std::string& path) : path_(path), folder_(std::filesystem::path(path).parent_path()) {}

  absl::StatusOr<Config> Read(const YamlNode& root);

 private:
  std::string Resolve(const std::string& path) const { return (folder_ / path).string(); }
  // The resolved path of a file that must be readable now.
  absl::StatusOr<std::string> ReadableFile(const YamlMap& map, const std::string& key) const;
  absl::StatusOr<std::string> CaptureFile(const YamlMap& map) const;
  absl::StatusOr<DeviceConfig> Device(const YamlNode& node) const;
  absl::StatusOr<std::vector<DeviceConfig>> Devices(const YamlMap& map) const;
  absl::StatusOr<TlsServerConfig> Tls(const YamlNode& node) const;
  absl::StatusOr<std::string> UnixSocket(const YamlMap& map) const;
  absl::StatusOr<ListenerConfig> Listener(const YamlMap& map, const ListenAddress& otherwise) const;
  absl::StatusOr<GrpcConfig> Grpc(const YamlNode& node) const;
  absl::StatusOr<ListenerConfig> Http(const YamlNode& node) const;
  absl::StatusOr<std::vector<VmKeyConfig>> VmKeys(const YamlMap& map) const;

  const std::string path_;
  const std::filesystem::path folder_;
  bool has_tokens_ = false;  // callers may show bearer tokens
};

absl::StatusOr<std::string> ConfigReader::ReadableFile(const YamlMap& map, const std::string& key) const {
  return daemon::ReadableFile(map, key, folder_);
}

absl::StatusOr<SealingMode> Sealing(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"mode"}));
  return OneOfOr(map, "mode", SealingMode::kDaemon, {{"daemon", SealingMode::kDaemon}});
}

// Sealing is in vain where the same counters lie in a file beside it: that must be meant.
absl::StatusOr<std::string> ConfigReader::CaptureFile(const YamlMap& map) const {
  SIDEBAND_ASSIGN_OR_RETURN(const bool plaintext_is_meant, map.BoolOr("capture_plaintext", false));
  const auto capture = map.Find("capture");
  if (!capture) return "";
  SIDEBAND_ASSIGN_OR_RETURN(const std::string path, capture->String());
  if (!plaintext_is_meant) {
    return capture->Error(
        "capture writes the counters of confidential VMs in the clear; it needs capture_plaintext: true");
  }
  return std::filesystem::path(Resolve(path)).lexically_normal().string();
}

absl::StatusOr<DeviceConfig> ConfigReader::Device(const YamlNode& node) const {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map,
                            node.Map({"name", "bus", "bus_hz", "interval", "sealing", "capture", "capture_plaintext"}));
  DeviceConfig device;
  SIDEBAND_ASSIGN_OR_RETURN(device.name, map.String("name"));
  if (!IsLabelSafe(device.name)) {
    return map.Find("name")->Error(
        absl::StrCat("device name '", device.name, "' may hold letters, digits, _ . - only"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(device.bus, map.String("bus"));
  const auto bus = smbus::ParseBusName(device.bus);
  if (!bus.ok()) return map.Find("bus")->Locate(bus.status());
  const bool is_wire = bus->kind == smbus::BusName::Kind::kI2c;
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t bus_hz,
                            map.UintOr("bus_hz", is_wire ? kBusHzDefault : 0, kBusHzMin, kBusHzMax));
  device.bus_hz = static_cast<uint32_t>(bus_hz);
  SIDEBAND_ASSIGN_OR_RETURN(device.interval, map.DurationOr("interval", device.interval, kIntervalMin, kIntervalMax));
  if (const auto sealing = map.Find("sealing")) {
    SIDEBAND_ASSIGN_OR_RETURN(device.sealing, Sealing(*sealing));
  }
  SIDEBAND_ASSIGN_OR_RETURN(device.capture_file, CaptureFile(map));
  return device;
}

absl::StatusOr<std::vector<DeviceConfig>> ConfigReader::Devices(const YamlMap& map) const {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, map.Get("devices"));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, list.List());
  if (nodes.empty()) return list.Error("at least one device is needed");
  if (nodes.size() > kDevicesMax) return list.Error(absl::StrCat("more than ", kDevicesMax, " devices"));
  std::vector<DeviceConfig> devices;
  std::set<std::string> names, captures;
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(DeviceConfig device, Device(node));
    if (!device.capture_file.empty() && !captures.insert(device.capture_file).second) {
      return node.Error("two devices have the same capture file");
    }
    if (!names.insert(device.name).second) return node.Error(absl::StrCat("device '", device.name, "' is given twice"));
    devices.push_back(std::move(device));
  }
  return devices;
}

// Who is not known by a certificate must be known by a token.
absl::StatusOr<ClientAuth> ClientAuthOf(const YamlMap& map, bool has_tokens) {
  const auto node = map.Find("client_auth_type");
  if (!node) return ClientAuth::kRequireAndVerify;
  SIDEBAND_ASSIGN_OR_RETURN(const ClientAuth auth,
                            OneOf<ClientAuth>(*node, {{"RequireAndVerifyClientCert", ClientAuth::kRequireAndVerify},
                                                      {"VerifyClientCertIfGiven", ClientAuth::kVerifyIfGiven},
                                                      {"NoClientCert", ClientAuth::kNone}}));
  if (auth == ClientAuth::kRequireAndVerify || has_tokens) return auth;
  return node->Error("a listener without mutual TLS is refused: no tokens are configured");
}

absl::StatusOr<TlsServerConfig> ConfigReader::Tls(const YamlNode& node) const {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map,
                            node.Map({"cert_file", "key_file", "client_ca_file", "client_auth_type", "min_version"}));
  TlsServerConfig tls;
  SIDEBAND_ASSIGN_OR_RETURN(tls.client_auth, ClientAuthOf(map, has_tokens_));
  const auto client_ca = map.Find("client_ca_file");
  const bool is_mutual = tls.client_auth != ClientAuth::kNone;
  if (is_mutual && !client_ca) return node.Error("a listener without mutual TLS is refused: client_ca_file is missing");
  if (!is_mutual && client_ca)
    return client_ca->Error("NoClientCert asks for no certificate: client_ca_file is in vain");
  SIDEBAND_ASSIGN_OR_RETURN(tls.cert_file, ReadableFile(map, "cert_file"));
  SIDEBAND_ASSIGN_OR_RETURN(tls.key_file, ReadableFile(map, "key_file"));
  if (is_mutual) {
    SIDEBAND_ASSIGN_OR_RETURN(tls.client_ca_file, ReadableFile(map, "client_ca_file"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(tls.min_version, OneOfOr(map, "min_version", tls.min_version,
                                                     {{"TLS12", TlsVersion::kTls12}, {"TLS13", TlsVersion::kTls13}}));
  return tls;
}

absl::StatusOr<std::string> ConfigReader::UnixSocket(const YamlMap& map) const {
  const auto node = map.Find("unix_socket");
  if (!node) return "";
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node->String());
  std::string path = Resolve(text);
  if (path.size() > kUnixPathBytesMax) {
    return node->Error(absl::StrCat("the path of a Unix socket has at most ", kUnixPathBytesMax, " bytes"));
  }
  return path;
}

absl::StatusOr<ListenerConfig> ConfigReader::Listener(const YamlMap& map, const ListenAddress& otherwise) const {
  ListenerConfig listener{.listen = otherwise};
  const auto listen = map.Find("listen"), tls = map.Find("tls_server_config");
  if (listen) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string text, listen->String());
    const auto address = ListenAddress::Parse(text);
    if (!address.ok()) return listen->Locate(address.status());
    listener.listen = *address;
  }
  SIDEBAND_ASSIGN_OR_RETURN(listener.unix_socket, UnixSocket(map));
  listener.on_network = listen || tls || listener.unix_socket.empty();
  if (!listener.on_network) return listener;
  if (!tls) return map.node().Error("a listener without mutual TLS is refused: tls_server_config is missing");
  SIDEBAND_ASSIGN_OR_RETURN(listener.tls, Tls(*tls));
  return listener;
}

absl::StatusOr<GrpcConfig> ConfigReader::Grpc(const YamlNode& node) const {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"listen", "tls_server_config", "unix_socket", "reflection"}));
  GrpcConfig grpc;
  SIDEBAND_ASSIGN_OR_RETURN(grpc.listener, Listener(map, {"127.0.0.1", 9878}));
  SIDEBAND_ASSIGN_OR_RETURN(grpc.reflection, map.BoolOr("reflection", grpc.reflection));
  return grpc;
}

absl::StatusOr<ListenerConfig> ConfigReader::Http(const YamlNode& node) const {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"listen", "tls_server_config", "unix_socket"}));
  return Listener(map, {"127.0.0.1", 9877});
}

// The numbers of the users or groups that `key` lists.
absl::StatusOr<std::vector<uint32_t>> Ids(const YamlMap& map, const std::string& key,
                                          absl::StatusOr<uint32_t> (*id_of)(const std::string&)) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, map.ListOrEmpty(key));
  std::vector<uint32_t> ids;
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string name, node.String());
    const auto id = id_of(name);
    if (!id.ok()) return node.Locate(id.status());
    ids.push_back(*id);
  }
  return ids;
}

absl::StatusOr<LocalOperators> ReadLocalOperators(const YamlMap& map) {
  LocalOperators operators;
  const auto node = map.Find("local_operators");
  if (!node) return operators;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap section, node->Map({"users", "groups"}));
  SIDEBAND_ASSIGN_OR_RETURN(operators.users, Ids(section, "users", UserId));
  SIDEBAND_ASSIGN_OR_RETURN(operators.groups, Ids(section, "groups", GroupId));
  return operators;
}

absl::StatusOr<std::vector<VmKeyConfig>> ConfigReader::VmKeys(const YamlMap& map) const {
  std::vector<VmKeyConfig> keys;
  std::set<Uuid> vms;
  const auto sealing = map.Find("sealing");
  if (!sealing) return keys;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap section, sealing->Map({"vm_keys"}));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, section.ListOrEmpty("vm_keys"));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap entry, node.Map({"vm", "key_file"}));
    SIDEBAND_ASSIGN_OR_RETURN(const YamlNode named, entry.Get("vm"));
    SIDEBAND_ASSIGN_OR_RETURN(const std::string text, named.String());
    const auto vm = Uuid::Parse(text);
    if (!vm.ok()) return named.Locate(vm.status());
    if (!vms.insert(*vm).second) return node.Error(absl::StrCat("VM ", vm->ToString(), " has two keys"));
    SIDEBAND_ASSIGN_OR_RETURN(std::string key_file, ReadableFile(entry, "key_file"));
    keys.push_back({*vm, std::move(key_file), absl::StrCat(path_, ":", named.line())});
  }
  return keys;
}

absl::StatusOr<LogLevel> ReadLogLevel(const YamlMap& map) {
  const auto log = map.Find("log");
  if (!log) return LogLevel::kInfo;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap section, log->Map({"level"}));
  return OneOfOr(
      section, "level", LogLevel::kInfo,
      {{"debug", LogLevel::kDebug}, {"info", LogLevel::kInfo}, {"warn", LogLevel::kWarn}, {"error", LogLevel::kError}});
}

absl::StatusOr<Config> ConfigReader::Read(const YamlNode& root) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map,
                            root.Map({"devices", "ratios", "grpc", "http", "local_operators", "policy_file", "tokens",
                                      "sealing", "audit", "history", "log", "ports_file"}));
  Config config;
  SIDEBAND_ASSIGN_OR_RETURN(config.devices, Devices(map));
  SIDEBAND_ASSIGN_OR_RETURN(config.ratios, ReadRatios(map));
  SIDEBAND_ASSIGN_OR_RETURN(config.tokens, ReadTokenConfig(map, folder_));
  has_tokens_ = config.tokens.has_value();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode grpc, map.Get("grpc"));
  SIDEBAND_ASSIGN_OR_RETURN(config.grpc, Grpc(grpc));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode http, map.Get("http"));
  SIDEBAND_ASSIGN_OR_RETURN(config.http, Http(http));
  if (!config.http.unix_socket.empty() && config.http.unix_socket == config.grpc.listener.unix_socket) {
    return http.Error("grpc and http have the same unix_socket");
  }
  SIDEBAND_ASSIGN_OR_RETURN(config.local_operators, ReadLocalOperators(map));
  SIDEBAND_ASSIGN_OR_RETURN(config.policy_file, ReadableFile(map, "policy_file"));
  SIDEBAND_ASSIGN_OR_RETURN(config.vm_keys, VmKeys(map));
  SIDEBAND_ASSIGN_OR_RETURN(config.audit, ReadAuditConfig(map, folder_.string()));
  SIDEBAND_ASSIGN_OR_RETURN(config.history, ReadHistoryConfig(map));
  SIDEBAND_ASSIGN_OR_RETURN(config.log_level, ReadLogLevel(map));
  if (const auto node = map.Find("ports_file")) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node->String());
    config.ports_file = Resolve(text);
  }
  return config;
}

}  // namespace

absl::StatusOr<Config> LoadConfig(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Load(path));
  return ConfigReader(path).Read(root);
}

}  // namespace sideband::daemon

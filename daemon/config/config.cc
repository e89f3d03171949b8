// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemon/config/config_context.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {
namespace {

// Enough for ten thousand daemons.
constexpr size_t kTargetsBytesMax = 1 << 20;
constexpr YamlBounds kTargetsBounds = {.depth_max = 8, .nodes_max = 1 << 16};

// Prometheus' data model: [a-zA-Z_][a-zA-Z0-9_]*
bool IsLabelName(absl::string_view name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const char letter : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(letter)) && letter != '_') return false;
  }
  return true;
}

bool IsPort(absl::string_view text) {
  uint32_t port = 0;
  return absl::SimpleAtoi(text, &port) && port >= 1 && port <= 65535 &&
         absl::ascii_isdigit(static_cast<uint8_t>(text[0]));
}

absl::Status CheckTarget(const YamlNode& node, const std::string& target) {
  const size_t colon = target.rfind(':');
  const bool is_printable = std::ranges::all_of(target, [](unsigned char c) { return absl::ascii_isgraph(c); });
  const bool is_address = is_printable && colon != std::string::npos && colon > 0 &&
                          target.find('/') == std::string::npos && IsPort(absl::string_view(target).substr(colon + 1));
  return is_address ? absl::OkStatus() : node.Error(absl::StrCat("'", Visible(target), "' is not HOST:PORT"));
}

void ReadAddresses(const YamlMap& map, ErrorList& errors, TargetGroup& group) {
  std::vector<YamlNode> nodes;
  errors.Add(map.Get("targets").status());
  errors.Take(map.ListOrEmpty("targets"), nodes);
  for (const YamlNode& node : nodes) {
    std::string target;
    if (errors.Take(node.String(), target) && errors.Add(CheckTarget(node, target))) group.targets.push_back(target);
  }
}

void ReadLabels(const YamlMap& map, ErrorList& errors, TargetGroup& group) {
  const auto labels = map.Find("labels");
  if (!labels) return;
  for (const auto& [name, node] : labels->Entries(errors)) {
    if (!IsLabelName(name)) errors.Add(node.Error(absl::StrCat("'", name, "' is not a label name")));
    errors.Take(node.String(), group.labels[name]);
  }
}

std::vector<TargetGroup> ReadGroups(const YamlNode& document, ErrorList& errors) {
  std::vector<YamlNode> nodes;
  errors.Take(document.List(), nodes);
  std::vector<TargetGroup> groups;
  for (const YamlNode& node : nodes) {
    const auto map = node.Map({"targets", "labels"}, errors);
    if (!map) continue;
    TargetGroup& group = groups.emplace_back();
    ReadAddresses(*map, errors, group);
    ReadLabels(*map, errors, group);
    if (group.targets.empty()) groups.pop_back();
  }
  return groups;
}

// The minimum holds any entry; a file of the maximum size can still be opened in an editor.
constexpr uint64_t kFileBytesLeast = 64 << 10;
constexpr uint64_t kFileBytesMost = 1 << 30;
constexpr uint64_t kFilesMost = 1000;

absl::StatusOr<std::string> FilePath(const YamlMap& map, const ConfigContext& context) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string named, map.String("file"));
  const std::filesystem::path path = context.Resolve(named);
  std::error_code error;
  if (std::filesystem::is_directory(path.has_parent_path() ? path.parent_path() : ".", error)) return path.string();
  return map.Find("file")->Error(absl::StrCat(path.string(), ": its folder does not exist"));
}

constexpr size_t kCountingBytesMax = 1 << 20;

// With less memory not even one snapshot of a large device fits.
constexpr size_t kHistoryBytesLeast = size_t{1} << 20;
constexpr size_t kHistoryBytesMost = size_t{16} << 30;

absl::StatusOr<size_t> MaxBytes(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto bytes = ParseByteSize(text);
  if (!bytes.ok()) return node.Locate(bytes.status());
  if (*bytes == 0 || (*bytes >= kHistoryBytesLeast && *bytes <= kHistoryBytesMost)) return *bytes;
  return node.Error(absl::StrCat("'", text, "' is neither 0 nor from 1MiB to 16GiB"));
}

constexpr uint64_t kPerSecondMax = 1000;
constexpr uint64_t kKeptMin = 16;  // more than can be pending
constexpr uint64_t kKeptMax = 65536;

// At 100 kHz: one counter in 14 s.
constexpr double kBusShareLeast = 0.001;

absl::StatusOr<double> BusShare(const YamlNode& node) {
  const auto share = node.Number(0, 1);
  const bool is_good = share.ok() && (*share == 0 || *share >= kBusShareLeast);
  return is_good ? share : node.Error("expected 0 or a number from 0.001 to 1, such as 0.1");
}

constexpr uint64_t kRateMost = 1'000'000;
constexpr uint64_t kCallsMost = 65'536;
// The minimum holds the largest response, 16 MiB.
constexpr uint64_t kBytesLeast = uint64_t{16} << 20;
constexpr uint64_t kBytesMost = uint64_t{16} << 30;

bool IsMetricName(const std::string& name) {
  if (name.empty() || absl::ascii_isdigit(name[0])) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

absl::StatusOr<std::string> Name(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, map.String("name"));
  if (name == kCoverageRatio || name == kEventCoverageRatio) {
    return map.Find("name")->Error(absl::StrCat("ratio name '", name, "' is the name of a metric of the daemon"));
  }
  if (IsMetricName(name)) return name;
  return map.Find("name")->Error(absl::StrCat("ratio name '", name, "' may hold a-z, 0-9 and _ only"));
}

absl::StatusOr<std::vector<YamlNode>> EventNodes(const YamlMap& map, const std::string& key) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(std::vector<YamlNode> nodes, node.List());
  if (nodes.empty()) return node.Error(absl::StrCat(key, " names no event"));
  return nodes;
}

std::vector<std::string> Events(const YamlMap& map, const std::string& key, const ConfigContext& context,
                                RatioConfig& config) {
  std::vector<YamlNode> nodes;
  context.errors.Take(EventNodes(map, key), nodes);
  std::vector<std::string> events;
  std::set<std::string> different;
  for (const YamlNode& node : nodes) {
    std::string name;
    if (!context.errors.Take(node.String(), name)) continue;
    if (!different.insert(name).second) context.errors.Add(node.Error(absl::StrCat(key, " names an event twice")));
    config.events.push_back({name, absl::StrCat(context.path, ":", node.line())});
    events.push_back(std::move(name));
  }
  return events;
}

// Enough for the maximum number of devices and the keys of about ten thousand VMs.
constexpr size_t kConfigBytesMax = 4 << 20;
constexpr YamlBounds kConfigBounds = {.depth_max = 16, .nodes_max = 1 << 16};

// Returns the ids of the users or groups listed under `key`.
std::vector<uint32_t> Ids(const YamlMap& map, const std::string& key,
                          absl::StatusOr<uint32_t> (*id_of)(const std::string&), const ConfigContext& context) {
  std::vector<YamlNode> nodes;
  context.errors.Take(map.ListOrEmpty(key), nodes);
  std::vector<uint32_t> ids;
  for (const YamlNode& node : nodes) {
    std::string name;
    if (!context.errors.Take(node.String(), name)) continue;
    const auto id = id_of(name);
    if (context.errors.Add(node.Locate(id.status()))) ids.push_back(*id);
  }
  return ids;
}

LocalOperators ReadLocalOperators(const YamlMap& root, const ConfigContext& context) {
  const auto map = context.Section(root, "local_operators", {"users", "groups"});
  if (!map) return {};
  return {.users = Ids(*map, "users", UserId, context), .groups = Ids(*map, "groups", GroupId, context)};
}

absl::StatusOr<Uuid> VmOf(const YamlMap& entry) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, entry.String("vm"));
  auto vm = Uuid::Parse(text);
  if (!vm.ok()) return entry.Find("vm")->Locate(vm.status());
  return vm;
}

std::vector<VmKeyConfig> ReadVmKeys(const std::optional<YamlMap>& section, const ConfigContext& context) {
  std::vector<YamlNode> nodes;
  if (section) context.errors.Take(section->ListOrEmpty("vm_keys"), nodes);
  std::vector<VmKeyConfig> keys;
  std::set<Uuid> vms;
  for (const YamlNode& node : nodes) {
    const auto entry = node.Map({"vm", "key_file"}, context.errors);
    if (!entry) continue;
    VmKeyConfig key{.key_file = context.ReadableFile(*entry, "key_file", FileTrust::kPrivate)};
    if (!context.errors.Take(VmOf(*entry), key.vm)) continue;
    if (!vms.insert(key.vm).second) {
      context.errors.Add(node.Error(absl::StrCat("VM ", key.vm.ToString(), " has two keys")));
    }
    key.place = absl::StrCat(context.path, ":", entry->Find("vm")->line());
    keys.push_back(std::move(key));
  }
  return keys;
}

void ReadListeners(const YamlMap& root, const ConfigContext& context, Config& config) {
  const bool has_tokens = config.tokens.has_value();
  config.grpc = ReadGrpc(root, has_tokens, context);
  config.http = ReadHttp(root, has_tokens, context);
  const std::string& unix_socket = config.http.listener.unix_socket;
  if (unix_socket.empty() || unix_socket != config.grpc.listener.unix_socket) return;
  context.errors.Add(root.Find("http")->Error("grpc and http have the same unix_socket"));
}

// Empty if `key` is absent.
std::string ReadPath(const YamlMap& root, const std::string& key, const ConfigContext& context) {
  const auto node = root.Find(key);
  std::string named;
  return node && context.errors.Take(node->String(), named) ? context.Resolve(named) : "";
}

Config Read(const YamlNode& document, const ConfigContext& context) {
  Config config;
  const auto root = document.Map(
      {"devices",     "bmcs",         "ratios",        "grpc",   "http",      "local_operators", "quotas",
       "policy_file", "targets_file", "counting_file", "tokens", "sealing",   "audit",           "exposition",
       "history",     "marks",        "peek",          "log",    "state_dir", "ports_file"},
      context.errors);
  if (!root) return config;
  config.devices = ReadDevices(*root, context);
  config.bmcs = ReadBmcs(*root, config.devices, context);
  config.ratios = ReadRatios(*root, context);
  // Before the listeners, which may omit mutual TLS only if tokens are configured.
  config.tokens = ReadTokenConfig(*root, context);
  ReadListeners(*root, context, config);
  config.local_operators = ReadLocalOperators(*root, context);
  config.quotas = ReadQuotaConfig(*root, context);
  config.policy_file = context.ReadableFile(*root, "policy_file", FileTrust::kNotWritable);
  config.targets = ReadTargets(*root, context);
  config.counting = ReadCountingConfig(*root, config.devices, context);
  const auto sealing = context.Section(*root, "sealing", {"vm_keys", "exchange"});
  config.vm_keys = ReadVmKeys(sealing, context);
  if (sealing && sealing->Find("exchange")) {
    config.sealing_file = context.ReadableFile(*sealing, "exchange", FileTrust::kNotWritable);
  }
  config.audit = ReadAuditConfig(*root, context);
  config.exposition = ReadExpositionConfig(*root, context);
  config.history = ReadHistoryConfig(*root, context);
  config.marks = ReadMarkConfig(*root, context);
  config.peek = ReadPeekConfig(*root, context);
  config.log = ReadLogConfig(*root, context);
  config.state_dir = ReadPath(*root, "state_dir", context);
  config.ports_file = ReadPath(*root, "ports_file", context);
  return config;
}

}  // namespace

std::optional<std::vector<TargetGroup>> ReadTargets(const YamlMap& root, const ConfigContext& context) {
  const auto key = root.Find("targets_file");
  if (!key) return std::nullopt;
  std::string named;
  if (!context.errors.Take(key->String(), named)) return std::nullopt;
  const std::string path = context.Resolve(named);
  std::string text;
  if (!context.errors.Take(ReadFile(path, kTargetsBytesMax, FileTrust::kNotWritable), text)) return std::nullopt;
  const auto document = YamlNode::Parse(text, path, kTargetsBounds);
  if (!context.errors.Add(document.status())) return std::nullopt;
  return ReadGroups(*document, context.errors);
}

AuditConfig ReadAuditConfig(const YamlMap& root, const ConfigContext& context) {
  AuditConfig config;
  const auto map = context.Section(root, "audit", {"file", "max_bytes", "files"});
  if (!map) return config;
  context.errors.Take(FilePath(*map, context), config.file);
  config.max_bytes = context.ByteSizeOr(*map, "max_bytes", config.max_bytes, kFileBytesLeast, kFileBytesMost);
  context.errors.Take(map->UintOr("files", config.files, 1, kFilesMost), config.files);
  return config;
}

DeviceSettings ReadCountingConfig(const YamlMap& root, const std::vector<DeviceConfig>& devices,
                                  const ConfigContext& context) {
  const auto key = root.Find("counting_file");
  if (!key) return {};
  std::string named, text;
  if (!context.errors.Take(key->String(), named)) return {};
  const std::string path = context.Resolve(named);
  if (!context.errors.Take(ReadFile(path, kCountingBytesMax, FileTrust::kNotWritable), text)) return {};
  DeviceSettings settings = ParseCountingFile(text, path, context.errors);
  std::vector<std::string> names;
  for (const DeviceConfig& device : devices) names.push_back(device.name);
  for (const auto& [name, setting] : settings) {
    if (std::ranges::find(names, name) != names.end()) continue;
    context.errors.Add(absl::InvalidArgumentError(
        absl::StrCat(path, ": no device '", name, "' is configured", DidYouMean(name, names))));
  }
  return settings;
}

ExpositionConfig ReadExpositionConfig(const YamlMap& root, const ConfigContext& context) {
  ExpositionConfig config;
  const auto map = context.Section(root, "exposition", {"estimates"});
  if (!map) return config;
  context.errors.Take(
      OneOfOr<EstimateSeries>(
          *map, "estimates", EstimateSeries::kAll,
          {{"all", EstimateSeries::kAll}, {"coverage", EstimateSeries::kCoverage}, {"none", EstimateSeries::kNone}}),
      config.estimates);
  return config;
}

HistoryConfig ReadHistoryConfig(const YamlMap& root, const ConfigContext& context) {
  HistoryConfig config;
  const auto map = context.Section(root, "history", {"max_bytes"});
  const auto node = map ? map->Find("max_bytes") : std::nullopt;
  if (node) context.errors.Take(MaxBytes(*node), config.max_bytes);
  return config;
}

LogConfig ReadLogConfig(const YamlMap& root, const ConfigContext& context) {
  LogConfig log;
  const auto map = context.Section(root, "log", {"level", "format"});
  if (!map) return log;
  context.errors.Take(OneOfOr(*map, "level", log.level,
                              {{"debug", LogLevel::kDebug},
                               {"info", LogLevel::kInfo},
                               {"warn", LogLevel::kWarn},
                               {"error", LogLevel::kError}}),
                      log.level);
  context.errors.Take(OneOfOr(*map, "format", log.format,
                              {{"auto", LogFormat::kAuto},
                               {"text", LogFormat::kText},
                               {"logfmt", LogFormat::kLogfmt},
                               {"json", LogFormat::kJson},
                               {"journal", LogFormat::kJournal}}),
                      log.format);
  return log;
}

MarkConfig ReadMarkConfig(const YamlMap& root, const ConfigContext& context) {
  MarkConfig config;
  const auto map = context.Section(root, "marks", {"per_vm_per_second", "kept"});
  if (!map) return config;
  context.errors.Take(map->UintOr("per_vm_per_second", config.per_vm_per_second, 1, kPerSecondMax),
                      config.per_vm_per_second);
  context.errors.Take(map->UintOr("kept", config.kept, kKeptMin, kKeptMax), config.kept);
  return config;
}

PeekConfig ReadPeekConfig(const YamlMap& root, const ConfigContext& context) {
  PeekConfig config;
  const auto map = context.Section(root, "peek", {"bus_share"});
  const auto node = map ? map->Find("bus_share") : std::nullopt;
  if (node) context.errors.Take(BusShare(*node), config.bus_share);
  return config;
}

QuotaConfig ReadQuotaConfig(const YamlMap& root, const ConfigContext& context) {
  QuotaConfig quotas;
  const auto map =
      context.Section(root, "quotas", {"calls_per_second", "burst", "calls_under_way", "bytes_under_way", "streams"});
  if (!map) return quotas;
  const auto take = [&](const char* key, auto& number, uint64_t most) {
    context.errors.Take(map->UintOr(key, number, 1, most), number);
  };
  take("calls_per_second", quotas.calls_per_second, kRateMost);
  take("burst", quotas.burst, kRateMost);
  take("calls_under_way", quotas.calls_under_way, kCallsMost);
  take("streams", quotas.streams, kCallsMost);
  quotas.bytes_under_way = context.ByteSizeOr(*map, "bytes_under_way", quotas.bytes_under_way, kBytesLeast, kBytesMost);
  return quotas;
}

RatioConfig ReadRatios(const YamlMap& root, const ConfigContext& context) {
  RatioConfig config;
  std::vector<YamlNode> nodes;
  context.errors.Take(root.ListOrEmpty("ratios"), nodes);
  std::set<std::string> names;
  for (const YamlNode& node : nodes) {
    const auto map = node.Map({"name", "numerator", "denominator"}, context.errors);
    if (!map) continue;
    RatioSpec ratio;
    if (context.errors.Take(Name(*map), ratio.name) && !names.insert(ratio.name).second) {
      context.errors.Add(node.Error(absl::StrCat("ratio '", ratio.name, "' is given twice")));
    }
    ratio.numerator = Events(*map, "numerator", context, config);
    ratio.denominator = Events(*map, "denominator", context, config);
    config.ratios.push_back(std::move(ratio));
  }
  return config;
}

std::optional<TokenConfig> ReadTokenConfig(const YamlMap& root, const ConfigContext& context) {
  if (!root.Find("tokens")) return std::nullopt;
  TokenConfig tokens;
  const auto map = context.Section(root, "tokens", {"jwks_file", "audience", "issuer"});
  if (!map) return tokens;
  tokens.jwks_file = context.ReadableFile(*map, "jwks_file", FileTrust::kNotWritable);
  context.errors.Take(map->String("audience"), tokens.audience);
  context.errors.Take(map->StringOr("issuer", ""), tokens.issuer);
  return tokens;
}

Config ParseConfig(const std::string& text, const std::string& path, ErrorList& errors) {
  const auto document = YamlNode::Parse(text, path, kConfigBounds);
  if (!errors.Add(document.status())) return {};
  return Read(*document, {.path = path, .folder = std::filesystem::path(path).parent_path(), .errors = errors});
}

Config LoadConfig(const std::string& path, ErrorList& errors) {
  std::string text;
  if (!errors.Take(ReadFile(path, kConfigBytesMax, FileTrust::kNotWritable), text)) return {};
  return ParseConfig(text, path, errors);
}

absl::StatusOr<Config> LoadConfig(const std::string& path) {
  ErrorList errors;
  Config config = LoadConfig(path, errors);
  if (!errors.empty()) return errors.First();
  return config;
}

}  // namespace sideband::daemon

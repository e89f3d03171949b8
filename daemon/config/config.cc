// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config.h"

#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {
namespace {

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
      {"devices", "ratios", "grpc", "http", "local_operators", "quotas", "policy_file", "targets_file", "counting_file",
       "tokens", "sealing", "audit", "exposition", "history", "marks", "peek", "log", "state_dir", "ports_file"},
      context.errors);
  if (!root) return config;
  config.devices = ReadDevices(*root, context);
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

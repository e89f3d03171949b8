// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/counting_file.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {
namespace {

constexpr char kVersion[] = "1";
constexpr uint64_t kIdentifierMax = 65'535;
constexpr uint64_t kSelectionMax = mailbox::kSelectionsMax - 1;

class FileReader {
 public:
  FileReader(ErrorList& errors, CountingKeys keys) : errors_(errors), keys_(keys) {}

  DeviceSettings Read(const YamlNode& root) {
    DeviceSettings devices;
    const auto map = root.Map({"version", "devices"}, errors_);
    if (!map) return devices;
    std::string version;
    if (errors_.Take(map->String("version"), version) && version != kVersion) {
      errors_.Add(map->Find("version")->Error(absl::StrCat("unknown version ", version, ", must be ", kVersion)));
    }
    ForEach(*map, "devices", [&](const std::string& name, const YamlNode& node) { devices[name] = Device(node); });
    return devices;
  }

 private:
  template <typename Action>
  void ForEach(const YamlMap& map, const std::string& key, const Action& action) {
    const auto node = map.Find(key);
    if (!node) return;
    for (const auto& [name, value] : node->Entries(errors_)) action(name, value);
  }

  CountingSettings Device(const YamlNode& node) {
    CountingSettings settings;
    const auto map = node.Map({"groups", "vms"}, errors_);
    if (!map) return settings;
    ForEach(*map, "groups", [&](const auto& name, const YamlNode& group) { settings.groups[name] = Group(group); });
    ForEach(*map, "vms", [&](const auto& name, const YamlNode& vm) { settings.vms[name] = Vm(vm); });
    return settings;
  }

  GroupSetting Group(const YamlNode& node) {
    GroupSetting group;
    const auto map = node.Map({"valid", "guest", "host", "identifier"}, errors_);
    if (!map) return group;
    Take(map->Find("valid"), group.valid);
    Take(map->Find("guest"), group.guest);
    Take(map->Find("host"), group.host);
    uint64_t identifier = 0;
    const auto found = map->Find("identifier");
    if (found && errors_.Take(found->Uint(0, kIdentifierMax), identifier)) {
      group.identifier = static_cast<uint16_t>(identifier);
    }
    return group;
  }

  VmSetting Vm(const YamlNode& node) {
    VmSetting vm;
    const auto map = VmMap(node);
    if (!map) return vm;
    Take(map->Find("value"), vm.value);
    Take(map->Find("host_value"), vm.host_value);
    Take(map->Find("allowed"), vm.allowed);
    Take(map->Find("pinned"), vm.pinned);
    Take(map->Find("guest_access"), vm.guest_access);
    Take(map->Find("useren"), vm.useren);
    Take(map->Find("store"), vm.store);
    if (const auto ids = map->Find("ids")) vm.ids = Ids(*ids);
    uint64_t selection = 0;
    const auto found = map->Find("selection");
    if (found && errors_.Take(found->Uint(0, kSelectionMax), selection)) vm.selection = selection;
    if (const auto name = map->Find("selection_name")) errors_.Take(name->String(), vm.selection_name);
    ForEach(*map, "contexts", [&](const auto& name, const YamlNode& value) { vm.contexts[name] = Value(value); });
    return vm;
  }

  std::optional<YamlMap> VmMap(const YamlNode& node) {
    if (keys_ == CountingKeys::kOperators) {
      return node.Map(
          {"value", "host_value", "allowed", "pinned", "ids", "guest_access", "useren", "store", "selection"}, errors_);
    }
    return node.Map({"value", "host_value", "allowed", "pinned", "ids", "guest_access", "useren", "store", "selection",
                     "selection_name", "contexts"},
                    errors_);
  }

  std::vector<uint16_t> Ids(const YamlNode& node) {
    std::vector<YamlNode> nodes;
    errors_.Take(node.List(), nodes);
    std::vector<uint16_t> ids;
    for (const YamlNode& each : nodes) {
      uint64_t id = 0;
      if (errors_.Take(each.Uint(1, kIdentifierMax), id)) ids.push_back(static_cast<uint16_t>(id));
    }
    return ids;
  }

  // `all`, `none`, or the enabled groups.
  GateSetting Value(const YamlNode& node) {
    GateSetting value;
    if (node.is_list()) {
      errors_.Take(node.StringList(), value.groups.emplace());
      return value;
    }
    std::string word;
    if (!errors_.Take(node.String(), word)) return value;
    if (word != "all" && word != "none")
      errors_.Add(node.Error(absl::StrCat("'", word, "': must be all, none or a list of gate groups")));
    value.master = word != "none";
    return value;
  }

  void Take(const std::optional<YamlNode>& node, std::optional<bool>& field) {
    if (node) errors_.Take(node->Bool(), field.emplace());
  }
  void Take(const std::optional<YamlNode>& node, std::optional<GroupNames>& field) {
    if (node) errors_.Take(node->StringList(), field.emplace());
  }
  void Take(const std::optional<YamlNode>& node, std::optional<GateSetting>& field) {
    if (node) field = Value(*node);
  }

  ErrorList& errors_;
  const CountingKeys keys_;
};

}  // namespace

DeviceSettings ParseCountingFile(const std::string& text, const std::string& path, ErrorList& errors,
                                 CountingKeys keys) {
  const auto root = YamlNode::Parse(text, path);
  return errors.Add(root.status()) ? FileReader(errors, keys).Read(*root) : DeviceSettings();
}

}  // namespace sideband::daemon

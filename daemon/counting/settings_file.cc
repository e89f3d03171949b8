// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/settings_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/base/replace_file.h"
#include "proto/base/bytes.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
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

using nlohmann::json;

constexpr char kTitle[] = "# sideband counting 1 ";

json ToJson(const GateSetting& value) {
  if (!value.master) return "none";
  return value.groups ? json(*value.groups) : json("all");
}
template <typename Plain>
json ToJson(const Plain& value) {
  return value;
}

template <typename Value>
void Put(const char* key, const std::optional<Value>& value, json& out) {
  if (value) out[key] = ToJson(*value);
}

json GroupJson(const GroupSetting& group) {
  json out = json::object();
  Put("valid", group.valid, out);
  Put("guest", group.guest, out);
  Put("host", group.host, out);
  Put("identifier", group.identifier, out);
  return out;
}

json VmJson(const VmSetting& vm) {
  json out = json::object();
  Put("value", vm.value, out);
  Put("host_value", vm.host_value, out);
  Put("allowed", vm.allowed, out);
  Put("pinned", vm.pinned, out);
  Put("ids", vm.ids, out);
  Put("guest_access", vm.guest_access, out);
  Put("useren", vm.useren, out);
  Put("store", vm.store, out);
  Put("selection", vm.selection, out);
  if (!vm.selection_name.empty()) out["selection_name"] = vm.selection_name;
  for (const auto& [name, value] : vm.contexts) out["contexts"][name] = ToJson(value);
  return out;
}

json DeviceJson(const CountingSettings& settings) {
  json out = json::object();
  for (const auto& [name, group] : settings.groups) out["groups"][name] = GroupJson(group);
  for (const auto& [name, vm] : settings.vms) out["vms"][name] = VmJson(vm);
  return out;
}

// The first line. The checksum is of what follows it.
std::string TitleOf(const std::string& body) {
  return absl::StrCat(kTitle, absl::Hex(Crc32c(AsBytes(body)), absl::kZeroPad8), "\n");
}

absl::Status CheckTitle(const std::string& text, const std::string& path) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return absl::InvalidArgumentError(path + ":1: ends too early");
  if (!text.starts_with(kTitle)) return absl::InvalidArgumentError(path + ":1: not a file of this version");
  const bool is_whole = text.starts_with(TitleOf(text.substr(end + 1)));
  return is_whole ? absl::OkStatus() : absl::InvalidArgumentError(path + ":1: the checksum is wrong: cut or changed");
}

// In a sticky folder, such as /tmp, every user may have created the file.
absl::Status CheckOwner(const Descriptor& file, const std::string& path) {
  struct stat info;
  if (fstat(file.get(), &info) != 0) return ErrnoStatus(errno, path);
  if (info.st_uid == geteuid() || info.st_uid == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(path, ": belongs to user ", info.st_uid, " (chown it)"));
}

bool NamesVmsByUuid(const CountingSettings& settings) {
  for (const auto& [name, vm] : settings.vms) {
    if (!Uuid::Parse(name).ok()) return false;
  }
  return true;
}

}  // namespace

DeviceSettings ParseCountingFile(const std::string& text, const std::string& path, ErrorList& errors,
                                 CountingKeys keys) {
  const auto root = YamlNode::Parse(text, path);
  return errors.Add(root.status()) ? FileReader(errors, keys).Read(*root) : DeviceSettings();
}

std::string EncodeSettings(const Uuid& device, const CountingSettings& settings) {
  const json root = {{"version", 1}, {"devices", {{device.ToString(), DeviceJson(settings)}}}};
  // Names are printable, as the catalogue's decoder has checked; nothing of one may throw here.
  const std::string body = root.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  return TitleOf(body) + body;
}

absl::StatusOr<CountingSettings> DecodeSettings(const std::string& text, const std::string& path, const Uuid& device) {
  SIDEBAND_RETURN_IF_ERROR(CheckTitle(text, path));
  ErrorList errors;
  DeviceSettings devices = ParseCountingFile(text, path, errors, CountingKeys::kCallers);
  if (!errors.empty()) return errors.First();
  const auto found = devices.find(device.ToString());
  if (found == devices.end()) return absl::InvalidArgumentError(path + ":2: belongs to another device");
  if (!NamesVmsByUuid(found->second)) return absl::InvalidArgumentError(path + ":2: a VM has no UUID");
  return std::move(found->second);
}

std::string SettingsFiles::PathOf(const Uuid& device) const {
  return absl::StrCat(folder_, "/counting-", device.ToString());
}

absl::StatusOr<CountingSettings> SettingsFiles::Load(const Uuid& device) {
  const std::string path = PathOf(device);
  SIDEBAND_ASSIGN_OR_RETURN(const Descriptor file, OpenForReading(path, FileTrust::kNotWritable));
  SIDEBAND_RETURN_IF_ERROR(CheckOwner(file, path));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadDescriptor(file.get(), path, kSettingsFileMax));
  return DecodeSettings(text, path, device);
}

absl::Status SettingsFiles::Save(const Uuid& device, const CountingSettings& settings) {
  const std::string path = PathOf(device), text = EncodeSettings(device, settings);
  if (text.size() > kSettingsFileMax) {
    return absl::ResourceExhaustedError(absl::StrCat(path, ": larger than ", kSettingsFileMax, " bytes"));
  }
  return ReplaceFile(path, text, FileSync::kSynced);
}

}  // namespace sideband::daemon

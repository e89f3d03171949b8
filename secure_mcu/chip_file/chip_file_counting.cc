// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip_file/chip_file_sections.h"

namespace sideband::mcu {
namespace {

absl::StatusOr<uint64_t> ReadVector(const YamlMap& map, const std::string& key, uint64_t otherwise,
                                    const ChipFile& file) {
  if (!map.Find(key)) return otherwise;
  std::vector<std::string> names;
  for (const GateGroupFileSpec& group : file.gate_groups) names.push_back(group.name);
  uint64_t vector = 0;
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, map.ListOrEmpty(key));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string name, node.String());
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return node.Error(absl::StrCat("no gate group '", name, "'", DidYouMean(name, names)));
    vector |= uint64_t{1} << (found - names.begin());
  }
  return vector;
}

// The groups that the value enables; every group if the key is absent.
absl::StatusOr<GateValue> ReadValue(const YamlMap& map, const std::string& key, const ChipFile& file) {
  if (!map.Find(key)) return GateValue();
  GateValue value{.vector_enable = true};
  SIDEBAND_ASSIGN_OR_RETURN(value.vector, ReadVector(map, key, 0, file));
  return value;
}

absl::Status ReadImages(const YamlMap& map, const ChipFile& file, VmControl& control) {
  SIDEBAND_ASSIGN_OR_RETURN(control.guest_value, ReadValue(map, "guest_value", file));
  SIDEBAND_ASSIGN_OR_RETURN(control.host_value, ReadValue(map, "host_value", file));
  SIDEBAND_ASSIGN_OR_RETURN(control.guest_load, BoolField(map, "guest_load", false));
  SIDEBAND_ASSIGN_OR_RETURN(control.host_load, BoolField(map, "host_load", false));
  SIDEBAND_ASSIGN_OR_RETURN(control.guest_store, BoolField(map, "guest_store", false));
  SIDEBAND_ASSIGN_OR_RETURN(control.host_store, BoolField(map, "host_store", false));
  return absl::OkStatus();
}

// Whether the guest writes what is counted itself.
absl::StatusOr<bool> ReadGuestAccess(const YamlMap& map) {
  const auto node = map.Find("guest_access");
  if (!node) return false;
  SIDEBAND_ASSIGN_OR_RETURN(const std::string word, node->String());
  if (word == "allow") return true;
  if (word == "trap") return false;
  return node->Error(absl::StrCat("guest_access is '", word, "', must be trap or allow"));
}

// Matching is on iff the VM lists identifiers.
absl::StatusOr<GateMatch> ReadMatch(const YamlMap& map) {
  const auto list = map.Find("ids");
  if (!list) return GateMatch();
  GateMatch match{.enable = true};
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, list->List());
  if (nodes.size() > kGateIdsMax) return list->Error(absl::StrCat("more than ", kGateIdsMax, " ids"));
  for (size_t i = 0; i < nodes.size(); ++i) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t id, UintValue(nodes[i], "id", {1, kIdentifierMax}));
    match.ids[i] = static_cast<uint16_t>(id);
  }
  return match;
}

absl::StatusOr<bool> ReadPrivate(const YamlMap& map, bool otherwise, const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const bool is_private, BoolField(map, "private", otherwise));
  if (is_private && !file.private_vms) return map.Find("private")->Error("the device has no private VMs");
  return is_private;
}

// The first selection is that of VMs that choose none.
absl::StatusOr<uint8_t> ReadVmSelection(const YamlMap& map, const ChipFile& file) {
  const auto node = map.Find("selection");
  if (!node) return uint8_t{0};
  SIDEBAND_ASSIGN_OR_RETURN(const std::string name, node->String());
  std::vector<std::string> names;
  for (const SelectionFileSpec& selection : file.selections) names.push_back(selection.name);
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return node->Error(absl::StrCat("no selection '", name, "'", DidYouMean(name, names)));
  return static_cast<uint8_t>(found - names.begin());
}

constexpr absl::Duration kExitEveryMin = absl::Microseconds(10);

// A group's name is part of an event's.
absl::StatusOr<std::string> ReadGroupName(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string name, ReadName(map));
  const auto is_valid = [](unsigned char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_'; };
  if (std::ranges::all_of(name, is_valid)) return name;
  return map.Find("name")->Error(absl::StrCat("group '", name, "' has characters other than a-z, 0-9 and '_'"));
}

absl::StatusOr<GateGroup> ReadGate(const YamlMap& map) {
  GateGroup gate;
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t identifier, UintField(map, "identifier", 0, {0, kIdentifierMax}));
  gate.identifier = static_cast<uint16_t>(identifier);
  SIDEBAND_ASSIGN_OR_RETURN(gate.in_guest, BoolField(map, "guest", true));
  SIDEBAND_ASSIGN_OR_RETURN(gate.in_host, BoolField(map, "host", false));
  return gate;
}

// An event has one group at most.
class GroupReader {
 public:
  explicit GroupReader(ChipFile& file) : file_(file), known_(EventsOfSlices(file)) {}

  absl::Status Add(const YamlNode& node) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "events", "identifier", "guest", "host"}));
    GateGroupFileSpec group{.line = node.line()};
    SIDEBAND_ASSIGN_OR_RETURN(group.name, ReadGroupName(map));
    SIDEBAND_ASSIGN_OR_RETURN(const GateGroup gate, ReadGate(map));
    if (!names_.insert(group.name).second) return node.Error(absl::StrCat("group '", group.name, "' is listed twice"));
    if (names_.size() > kGateGroupsMax) return node.Error(absl::StrCat("more than ", kGateGroupsMax, " gate groups"));
    SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, map.Get("events"));
    SIDEBAND_ASSIGN_OR_RETURN(const auto events, list.List());
    if (events.empty()) return list.Error(absl::StrCat("group '", group.name, "' has no event"));
    for (const YamlNode& event : events) SIDEBAND_RETURN_IF_ERROR(AddEvent(event, group));
    file_.gate_groups.push_back(std::move(group));
    file_.pipeline.gate_groups.push_back(gate);
    return absl::OkStatus();
  }

 private:
  absl::Status AddEvent(const YamlNode& node, GateGroupFileSpec& group) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::string event, node.String());
    if (std::ranges::find(known_, event) == known_.end()) {
      return node.Error(absl::StrCat("no unit of a slice has an event '", event, "'", DidYouMean(event, known_)));
    }
    if (!grouped_.insert(event).second) return node.Error(absl::StrCat("event '", event, "' has a gate group already"));
    group.events.push_back(event);
    return absl::OkStatus();
  }

  ChipFile& file_;
  const std::vector<std::string> known_;
  std::set<std::string> names_, grouped_;
};

absl::Status ReadHost(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("host");
  if (!node) return absl::OkStatus();
  // The machine of a program runs on while the hypervisor does: its events would be counted as the hypervisor's.
  if (!file.programs.empty()) return node->Error("a chip has either a host or a program, which runs on in an exit");
  if (file.units.empty()) return node->Error("a host needs units: its workload drives their wires");
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"exit_every", "exit_time", "seed", "phases", "vary"}));
  HostFileSpec host;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode every, map.Get("exit_every"));
  SIDEBAND_ASSIGN_OR_RETURN(host.exit_every, DurationValue(every, "exit_every", {kExitEveryMin, kTimeMax}));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode time, map.Get("exit_time"));
  SIDEBAND_ASSIGN_OR_RETURN(host.exit_time, DurationValue(time, "exit_time", {absl::Nanoseconds(1), kTimeMax}));
  if (host.exit_time >= host.exit_every) return time.Error("exit_time must be shorter than exit_every");
  SIDEBAND_ASSIGN_OR_RETURN(host.workload, ReadWorkload(map));
  file.host = std::move(host);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadPrivateVms(const YamlMap& root, ChipFile& file) {
  const bool is_possible = file.extension == mailbox::ExtensionVersion::kTwo;
  SIDEBAND_ASSIGN_OR_RETURN(file.private_vms, BoolField(root, "private_vms", is_possible));
  if (file.private_vms && !is_possible) return root.Find("private_vms")->Error("'private_vms' needs extension 2");
  return absl::OkStatus();
}

absl::StatusOr<VmControl> ReadCounting(const YamlMap& vm, bool confidential, const ChipFile& file) {
  VmControl control{.is_private = confidential && file.private_vms};
  const auto node = vm.Find("counting");
  if (!node) return control;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"useren", "ids", "allowed", "pinned", "private", "selection",
                                                          "guest_access", "guest_value", "host_value", "guest_load",
                                                          "host_load", "guest_store", "host_store"}));
  SIDEBAND_ASSIGN_OR_RETURN(control.is_private, ReadPrivate(map, control.is_private, file));
  SIDEBAND_ASSIGN_OR_RETURN(control.useren, BoolField(map, "useren", false));
  SIDEBAND_ASSIGN_OR_RETURN(control.match, ReadMatch(map));
  SIDEBAND_ASSIGN_OR_RETURN(control.allowed, ReadVector(map, "allowed", control.allowed, file));
  SIDEBAND_ASSIGN_OR_RETURN(control.pinned, ReadVector(map, "pinned", control.pinned, file));
  SIDEBAND_ASSIGN_OR_RETURN(control.guest_access, ReadGuestAccess(map));
  SIDEBAND_RETURN_IF_ERROR(ReadImages(map, file, control));
  SIDEBAND_ASSIGN_OR_RETURN(control.selection, ReadVmSelection(map, file));
  return control;
}

std::vector<std::string> EventsOfSlices(const ChipFile& file) {
  std::vector<std::string> events;
  for (const auto* units : {&file.units, &file.shared_units}) {
    for (const UnitFileSpec& unit : *units) {
      for (const UnitEventSpec& event : unit.events) events.push_back(event.name);
    }
  }
  return events;
}

absl::Status ReadGates(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, root.ListOrEmpty("gate_groups"));
  if (!nodes.empty() && file.units.empty()) return nodes[0].Error("gate groups need units, whose events they gate");
  GroupReader reader(file);
  for (const YamlNode& node : nodes) SIDEBAND_RETURN_IF_ERROR(reader.Add(node));
  return ReadHost(root, file);
}

}  // namespace sideband::mcu

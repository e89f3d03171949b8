// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_gates.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip_file/chip_file_fields.h"
#include "secure_mcu/chip_file/chip_file_tenants.h"

namespace sideband::mcu {
namespace {

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

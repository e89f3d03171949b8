// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_counting.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip_file/chip_file_fields.h"
#include "secure_mcu/chip_file/chip_file_gates.h"

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

}  // namespace sideband::mcu

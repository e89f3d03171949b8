// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_selections.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip_file/chip_file_fields.h"
#include "secure_mcu/chip_file/chip_file_gates.h"

namespace sideband::mcu {
namespace {

absl::Status ReadSelectedEvent(const YamlNode& node, const std::vector<std::string>& known,
                               SelectionFileSpec& selection) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string event, node.String());
  if (std::ranges::find(known, event) == known.end()) {
    return node.Error(absl::StrCat("no unit of a slice has an event '", event, "'", DidYouMean(event, known)));
  }
  if (std::ranges::find(selection.events, event) != selection.events.end()) {
    return node.Error(absl::StrCat("event '", event, "' is listed twice"));
  }
  selection.events.push_back(event);
  return absl::OkStatus();
}

absl::Status ReadSelection(const YamlNode& node, const std::vector<std::string>& known, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "events"}));
  SelectionFileSpec selection{.name = {}, .events = {}, .line = node.line()};
  SIDEBAND_ASSIGN_OR_RETURN(selection.name, ReadName(map));
  const auto& names = file.selections;
  if (std::ranges::find(names, selection.name, &SelectionFileSpec::name) != names.end()) {
    return node.Error(absl::StrCat("selection '", selection.name, "' is listed twice"));
  }
  if (names.size() == mailbox::kSelectionsMax) {
    return node.Error(absl::StrCat("more than ", mailbox::kSelectionsMax, " selections"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, map.Get("events"));
  SIDEBAND_ASSIGN_OR_RETURN(const auto events, list.List());
  for (const YamlNode& event : events) SIDEBAND_RETURN_IF_ERROR(ReadSelectedEvent(event, known, selection));
  file.selections.push_back(std::move(selection));
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadSelections(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, root.ListOrEmpty("selections"));
  if (nodes.empty()) return absl::OkStatus();
  if (file.units.empty()) return nodes[0].Error("selections need units, among whose events they choose");
  if (file.extension != mailbox::ExtensionVersion::kTwo) {
    return nodes[0].Error("selections need extension 2: in others nothing tells a count of 0 from none");
  }
  const std::vector<std::string> known = EventsOfSlices(file);
  for (const YamlNode& node : nodes) SIDEBAND_RETURN_IF_ERROR(ReadSelection(node, known, file));
  return absl::OkStatus();
}

}  // namespace sideband::mcu

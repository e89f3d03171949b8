// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/selection_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip/selectable_events.h"

namespace sideband::mcu {
namespace {

constexpr size_t kWordEvents = 64;

// Of a chip file with units.
class SelectionPlanner {
 public:
  SelectionPlanner(const ChipFile& file, const EventTable& events, const std::vector<CcuSpec>& ccus)
      : file_(file), events_(events), selectable_(ConfigOf(file, events, ccus)) {}

  absl::Status CheckUnits() const {
    if (selectable_.empty()) {
      return Error(file_.selections[0].line, "selections need a unit with more events than counters");
    }
    for (const GateGroupFileSpec& group : file_.gate_groups) SIDEBAND_RETURN_IF_ERROR(CheckGroup(group));
    for (const auto* units : {&file_.units, &file_.shared_units}) {
      for (const UnitFileSpec& unit : *units) {
        for (const UnitEventSpec& event : unit.events) SIDEBAND_RETURN_IF_ERROR(CheckEvent(event));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<mailbox::EventSet> SetOf(const SelectionFileSpec& selection) const {
    mailbox::EventSet set((events_.events().size() + kWordEvents - 1) / kWordEvents);
    for (const std::string& name : selection.events) {
      const uint16_t event = *events_.Find(name);
      set[event / kWordEvents] |= uint64_t{1} << event % kWordEvents;
    }
    const auto quoted = [this](size_t event) { return absl::StrCat("'", events_.events()[event].name, "'"); };
    const absl::Status status = selectable_.Check(set, quoted);
    if (status.ok()) return set;
    return Error(selection.line, absl::StrCat("selection '", selection.name, "': ", status.message()));
  }

 private:
  static PipelineConfig ConfigOf(const ChipFile& file, const EventTable& events, const std::vector<CcuSpec>& ccus) {
    PipelineConfig config = file.pipeline;
    config.events = static_cast<uint32_t>(events.events().size());
    config.ccus = ccus;
    return config;
  }

  absl::Status Error(size_t line, const std::string& what) const { return LineError(file_.path, line, what); }
  bool IsSelectable(const std::string& event) const { return selectable_.Has(*events_.Find(event)); }

  absl::Status CheckGroup(const GateGroupFileSpec& group) const {
    const auto is_selectable = [this](const std::string& event) { return IsSelectable(event); };
    const auto is_always = [this](const std::string& event) {
      return !IsSelectable(event) && !events_.events()[*events_.Find(event)].masked;
    };
    const auto selectable = std::ranges::find_if(group.events, is_selectable);
    const auto always = std::ranges::find_if(group.events, is_always);
    if (selectable == group.events.end() || always == group.events.end()) return absl::OkStatus();
    return Error(group.line, absl::StrCat("group '", group.name, "' has event '", *selectable,
                                          "', which is selectable, and event '", *always,
                                          "', which is always counted: its running cycles can tell one only"));
  }

  absl::Status CheckEvent(const UnitEventSpec& event) const {
    const auto has_it = [&](const GateGroupFileSpec& group) {
      return std::ranges::find(group.events, event.name) != group.events.end();
    };
    if (!IsSelectable(event.name) || std::ranges::any_of(file_.gate_groups, has_it)) return absl::OkStatus();
    return Error(event.line, absl::StrCat("event '", event.name,
                                          "' is selectable and has no gate group, whose running cycles would tell a "
                                          "count of 0 from none"));
  }

  const ChipFile& file_;
  const EventTable& events_;
  const SelectableEvents selectable_;
};

}  // namespace

absl::StatusOr<std::vector<mailbox::EventSet>> PlanSelections(const ChipFile& file, const EventTable& events,
                                                              const std::vector<CcuSpec>& ccus) {
  std::vector<mailbox::EventSet> sets;
  if (file.selections.empty()) return sets;
  const SelectionPlanner planner(file, events, ccus);
  SIDEBAND_RETURN_IF_ERROR(planner.CheckUnits());
  for (const SelectionFileSpec& selection : file.selections) {
    SIDEBAND_ASSIGN_OR_RETURN(mailbox::EventSet set, planner.SetOf(selection));
    sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace sideband::mcu

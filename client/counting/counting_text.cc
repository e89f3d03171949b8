// SPDX-License-Identifier: Apache-2.0
#include "client/counting/counting_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sideband::client {
namespace {

// "all" and "none" are the commonest.
std::string Groups(const v1::GateValue& value, int all) {
  if (value.groups().empty()) return "none";
  return value.groups_size() == all ? "all" : absl::StrJoin(value.groups(), ",");
}

std::string Modes(const v1::GateGroup& group) {
  if (!group.valid()) return "nothing";
  if (group.guest() && group.host()) return "VMs and the hypervisor";
  if (group.guest()) return "VMs";
  return group.host() ? "the hypervisor" : "nothing";
}

std::string GroupTable(const v1::GetCountingResponse& response, const TableStyle& style) {
  Table table({{"GROUP", Table::Align::kLeft, Table::Fit::kMiddle},
               {"COUNTS"},
               {"ID", Table::Align::kRight},
               {"EVENTS", Table::Align::kLeft, Table::Fit::kEnd}});
  for (const v1::GateGroup& group : response.groups()) {
    table.Add({group.name(), Modes(group), group.identifier() == 0 ? "" : absl::StrCat(group.identifier()),
               absl::StrJoin(group.events(), ",")});
  }
  return table.Render(style);
}

std::string NameOf(uint32_t selection, const v1::GetCountingResponse& response) {
  for (const v1::EventSelection& known : response.selections()) {
    if (known.number() == selection) return known.name();
  }
  return absl::StrCat(selection);
}

std::string Notes(const v1::GetCountingResponse& response, const v1::VmCounting& vm) {
  std::vector<std::string> notes;
  if (vm.confidential()) notes.push_back("confidential");
  if (vm.guest_access()) notes.push_back("guest access");
  if (vm.useren()) notes.push_back("useren");
  if (vm.store()) notes.push_back("store");
  if (vm.has_selection()) notes.push_back(absl::StrCat("selection ", NameOf(vm.selection(), response)));
  return absl::StrJoin(notes, ", ");
}

std::string VmTable(const v1::GetCountingResponse& response, const TableStyle& style) {
  Table table({{"VM", Table::Align::kLeft, Table::Fit::kMiddle},
               {"CONTEXT", Table::Align::kLeft, Table::Fit::kIfAny},
               {"ALLOWED", Table::Align::kLeft, Table::Fit::kEnd},
               {"PINNED", Table::Align::kLeft, Table::Fit::kEnd},
               {"VALUE", Table::Align::kLeft, Table::Fit::kEnd},
               {"IDS", Table::Align::kLeft, Table::Fit::kIfAny},
               {"NOTES", Table::Align::kLeft, Table::Fit::kIfAny}});
  const int all = response.groups_size();
  for (const v1::VmCounting& vm : response.vms()) {
    table.Add({vm.vm(), "", Groups(vm.allowed(), all), vm.has_pinned() ? Groups(vm.pinned(), all) : "",
               vm.has_value() ? Groups(vm.value(), all) : "", absl::StrJoin(vm.ids().ids(), ","), Notes(response, vm)});
    for (const v1::ContextCounting& context : vm.contexts()) {
      if (!context.has_value()) continue;
      table.Add({vm.vm(), context.context(), "", "", Groups(context.value(), all), "", ""});
    }
  }
  return table.Render(style);
}

std::string SelectionTable(const v1::GetCountingResponse& response, const TableStyle& style) {
  if (response.selections().empty()) return "";
  Table table({{"#", Table::Align::kRight}, {"SELECTION"}, {"EVENTS", Table::Align::kLeft, Table::Fit::kEnd}});
  for (const v1::EventSelection& selection : response.selections()) {
    table.Add({absl::StrCat(selection.number()), selection.name(), absl::StrJoin(selection.events(), ",")});
  }
  return absl::StrCat("\n", table.Render(style));
}

}  // namespace

std::string CountingText(const v1::GetCountingResponse& response, const TableStyle& style) {
  std::string text =
      absl::StrCat(response.device(), "  revision ", response.revision(), response.in_sync() ? "" : "  not in sync",
                   response.settings_stored() ? "" : "  not stored", "\n", GroupTable(response, style), "\n",
                   VmTable(response, style), SelectionTable(response, style));
  for (const v1::RefusedField& refused : response.refused()) {
    absl::StrAppend(&text, "refused: ", refused.field(), refused.field().empty() ? "" : ": ", refused.reason(), "\n");
  }
  return text;
}

std::string ExplanationText(const ExplainQuestion& question, const Explanation& explanation, const TableStyle& style) {
  Table table({{"TERM"}, {"VALUE", Table::Align::kRight}, {"REASON", Table::Align::kLeft, Table::Fit::kEnd}});
  for (const ExplainedTerm& term : explanation.terms) table.Add({term.name, term.holds ? "1" : "0", term.reason});
  const bool is_selectable = explanation.terms.back().name == "selected";
  return absl::StrCat("counted = valid and guest and match and (pinned or (value and context value and allowed))",
                      is_selectable ? " and selected\n" : "\n", table.Render(style), question.event, " (gate group ",
                      explanation.group, ") is ", explanation.is_counted ? "" : "not ", "counted while ", question.vm,
                      explanation.is_in_sync ? " runs\n" : " runs, until the settings that wait are in force\n");
}

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include "client/cli/counting_explanation.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/event_name.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

const v1::GateGroup* GroupOf(const v1::GetCountingResponse& counting, const std::string& event) {
  for (const v1::GateGroup& group : counting.groups()) {
    if (std::ranges::find(group.events(), event) != group.events().end()) return &group;
  }
  return nullptr;
}

// The name of an event that a group counts; unchanged if there is none.
std::string FullName(const v1::GetCountingResponse& counting, const std::string& given) {
  const auto event = FindEvent(given, [&](const std::string& exact) {
    return GroupOf(counting, exact) == nullptr ? std::nullopt : std::optional(exact);
  });
  return event.value_or(given);
}

const v1::VmCounting* FindVm(const v1::GetCountingResponse& counting, const std::string& name) {
  const auto vm = std::ranges::find(counting.vms(), name, [](const v1::VmCounting& row) { return row.vm(); });
  return vm == counting.vms().end() ? nullptr : &*vm;
}

bool Has(const v1::GateValue& value, const std::string& group) {
  return std::ranges::find(value.groups(), group) != value.groups().end();
}

ExplainedTerm Match(const v1::GateGroup& group, const v1::VmCounting& vm) {
  if (group.identifier() == 0) return {"match", true, "the group has no identifier"};
  if (!vm.has_ids()) return {"match", true, absl::StrCat("VM '", vm.vm(), "' names no identifiers")};
  const bool holds = std::ranges::find(vm.ids().ids(), group.identifier()) != vm.ids().ids().end();
  return {"match", holds,
          absl::StrCat("identifier ", group.identifier(), holds ? " is" : " is not",
                       " among the VM's: ", absl::StrJoin(vm.ids().ids(), ", "))};
}

ExplainedTerm Value(const v1::GateGroup& group, const v1::VmCounting& vm) {
  if (!vm.has_value()) return {"value", true, "the VM has no value of its own"};
  const bool holds = Has(vm.value(), group.name());
  return {"value", holds, absl::StrCat("the VM's own value ", holds ? "enables" : "does not enable", " the group")};
}

ExplainedTerm ContextValue(const v1::GateGroup& group, const v1::VmCounting& vm, const std::string& name) {
  for (const v1::ContextCounting& context : vm.contexts()) {
    if (context.context() != name || !context.has_value()) continue;
    const bool holds = Has(context.value(), group.name());
    return {"context value", holds,
            absl::StrCat("context '", name, "' ", holds ? "enables" : "does not enable", " the group")};
  }
  return {
      "context value", true,
      name.empty() ? "no context is named; one may have a value of its own" : "the context has no value of its own"};
}

bool HasContext(const v1::VmCounting& vm, const std::string& name) {
  return std::ranges::any_of(vm.contexts(), [&](const v1::ContextCounting& row) { return row.context() == name; });
}

std::string NoSuchEvent(const v1::GetCountingResponse& counting, const std::string& event) {
  std::vector<std::string> events;
  for (const v1::GateGroup& group : counting.groups()) {
    events.insert(events.end(), group.events().begin(), group.events().end());
  }
  return absl::StrCat("event '", event, "' is in no gate group that you may see", DidYouMean(event, events));
}

// The caller must see the VM, the context and the event of the question.
absl::Status CheckQuestion(const v1::GetCountingResponse& counting, const ExplainQuestion& question) {
  const v1::VmCounting* const vm = FindVm(counting, question.vm);
  if (vm == nullptr)
    return absl::NotFoundError(absl::StrCat("no VM '", question.vm, "', or you may not see its gates"));
  if (vm->confidential()) {
    return absl::NotFoundError(
        absl::StrCat("VM '", question.vm, "' is confidential: only its guest knows what it counts"));
  }
  if (!question.context.empty() && !HasContext(*vm, question.context)) {
    return absl::NotFoundError(
        absl::StrCat("no context '", question.context, "' of VM '", question.vm, "', or you may not see its value"));
  }
  if (GroupOf(counting, question.event) == nullptr) return absl::NotFoundError(NoSuchEvent(counting, question.event));
  return absl::OkStatus();
}

std::string Named(const v1::EventSelection& selection) {
  return absl::StrCat("selection ", selection.number(), " ('", selection.name(), "')");
}

// The term `selected`, for an event that shares its counter with others.
ExplainedTerm Selected(const v1::GetCountingResponse& counting, const v1::VmCounting& vm, const std::string& event) {
  for (const v1::EventSelection& selection : counting.selections()) {
    if (selection.number() != vm.selection()) continue;
    const bool holds = std::ranges::find(selection.events(), event) != selection.events().end();
    return {"selected", holds, absl::StrCat("the VM's ", Named(selection), holds ? " has it" : " does not have it")};
  }
  return {"selected", false, "you may not see the VM's selection"};
}

bool IsSelectable(const v1::GetCountingResponse& counting, const std::string& event) {
  return std::ranges::find(counting.selectable_events(), event) != counting.selectable_events().end();
}

}  // namespace

absl::StatusOr<Explanation> Explain(const v1::GetCountingResponse& counting, const ExplainQuestion& given) {
  ExplainQuestion question = given;
  question.event = FullName(counting, given.event);
  SIDEBAND_RETURN_IF_ERROR(CheckQuestion(counting, question));
  const v1::VmCounting* const vm = FindVm(counting, question.vm);
  const v1::GateGroup* const group = GroupOf(counting, question.event);
  const bool is_pinned = Has(vm->pinned(), group->name()), is_allowed = Has(vm->allowed(), group->name());
  Explanation explanation{
      .event = question.event,
      .group = group->name(),
      .terms = {{"valid", group->valid(), group->valid() ? "the group is on" : "the operator has stopped the group"},
                {"guest", group->guest(),
                 group->guest() ? "the group counts while VMs run" : "the group does not count while VMs run"},
                Match(*group, *vm),
                {"pinned", is_pinned, is_pinned ? "the VM cannot close it" : "the VM may close it"},
                Value(*group, *vm),
                ContextValue(*group, *vm, question.context),
                {"allowed", is_allowed, is_allowed ? "the VM may open it" : "the VM may not open it"}}};
  if (IsSelectable(counting, question.event)) {
    explanation.terms.push_back(Selected(counting, *vm, question.event));
  }
  const auto& terms = explanation.terms;
  const bool is_enabled = terms[3].holds || (terms[4].holds && terms[5].holds && terms[6].holds);
  explanation.is_in_sync = counting.in_sync();
  explanation.is_counted =
      terms[0].holds && terms[1].holds && terms[2].holds && is_enabled && (terms.size() == 7 || terms[7].holds);
  return explanation;
}

std::string ExplanationText(const ExplainQuestion& question, const Explanation& explanation, const TableStyle& style) {
  Table table({{"TERM"}, {"VALUE", Table::Align::kRight}, {"REASON", Table::Align::kLeft, Table::Fit::kEnd}});
  for (const ExplainedTerm& term : explanation.terms) table.Add({term.name, term.holds ? "1" : "0", term.reason});
  const bool is_selectable = explanation.terms.back().name == "selected";
  return absl::StrCat("counted = valid and guest and match and (pinned or (value and context value and allowed))",
                      is_selectable ? " and selected\n" : "\n", table.Render(style), explanation.event, " (gate group ",
                      explanation.group, ") is ", explanation.is_counted ? "" : "not ", "counted while ", question.vm,
                      explanation.is_in_sync ? " runs\n" : " runs, until the settings that wait are in force\n");
}

}  // namespace sideband::client

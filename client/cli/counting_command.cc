// SPDX-License-Identifier: Apache-2.0
#include "client/cli/counting_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/command.h"
#include "client/cli/formats.h"
#include "client/cli/options.h"
#include "client/lib/rpc_status.h"
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

constexpr uint32_t kIdentifierMax = 65'535;
constexpr uint32_t kSelectionMax = 15;

std::vector<std::string> Split(const std::string& list) { return absl::StrSplit(list, ',', absl::SkipEmpty()); }

// `all`, `none` or names.
v1::GateValue ValueOf(const std::string& list, const v1::GetCountingResponse& actual) {
  v1::GateValue value;
  if (list == "all") {
    for (const v1::GateGroup& group : actual.groups()) value.add_groups(group.name());
  } else if (list != "none") {
    for (const std::string& name : Split(list)) value.add_groups(name);
  }
  return value;
}

absl::StatusOr<v1::VmCounting::Ids> ParseIds(const std::string& list) {
  v1::VmCounting::Ids ids;
  if (list == "none") return ids;
  for (const std::string& word : Split(list)) {
    uint32_t id = 0;
    if (!absl::SimpleAtoi(word, &id) || id == 0 || id > kIdentifierMax) {
      return absl::InvalidArgumentError(absl::StrCat("--ids: '", word, "' is not a number from 1 to ", kIdentifierMax));
    }
    ids.add_ids(id);
  }
  return ids;
}

// Empty if the text is names with commas: an empty one, as of a variable that is not set, stands for nothing.
std::string CheckNames(const std::string& text) {
  const std::vector<std::string> names = absl::StrSplit(text, ',');
  return std::ranges::find(names, "") == names.end() ? "" : absl::StrCat("'", text, "' has an empty name");
}

// `names` is a text, or an optional one.
template <typename Names>
CLI::Option& AddNames(CLI::App& app, const std::string& option, Names& names, const std::string& help) {
  return *app.add_option(option, names, help)->check(CLI::Validator(CheckNames, ""));
}

void AddSwitch(CLI::App& app, const std::string& name, std::optional<bool>& value, const std::string& help) {
  app.add_option_function<std::string>(
         name, [&value](const std::string& word) { value = word == "on"; }, help)
      ->check(CLI::IsMember({"on", "off"}))
      ->type_name("on|off");
}

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

// A device follows within two of its intervals, which are a second by default.
constexpr absl::Duration kFollowMax = absl::Seconds(30);
constexpr absl::Duration kAskAgain = absl::Milliseconds(200);

absl::Status Explained(const absl::Status& status) {
  // gRPC's own status for a method that the server does not have is without a text.
  if (absl::IsUnimplemented(status) && absl::EndsWith(status.message(), "UNIMPLEMENTED")) {
    return MarkRemote(absl::UnimplementedError("the daemon cannot configure counting: it is older than this program"));
  }
  if (!absl::IsNotFound(status)) return status;
  return MarkRemote(absl::NotFoundError(
      absl::StrCat(status.message(),
                   ": the device does not exist or has no gate groups, or you lack the right `configure` on its VMs")));
}

class CountingCommand final : public Command {
 public:
  std::string name() const override { return "counting"; }
  std::string description() const override { return "Show and change which events are counted for which VMs"; }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  sideband counting show\n"
        "  sideband counting set --vm vm1 --value tlb,memory\n"
        "  sideband counting explain --vm vm1 --event tlb_misses");
    DefineShow(*app.add_subcommand("show", "Print the gate groups and what each VM may count"));
    DefineSet(*app.add_subcommand("set", "Change them; no count is lost"));
    DefineExplain(*app.add_subcommand("explain", "Say why an event is counted for a VM, or is not"));
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    SIDEBAND_ASSIGN_OR_RETURN(const v1::GetCountingResponse actual, Get(*client));
    if (set_->parsed()) return Set(actual, *client, context);
    if (explain_->parsed()) return ExplainEvent(actual, context);
    return context.out().Write(format_.json() ? ToJson(actual) : CountingText(actual, context.StyleOf(format_.style)));
  }

 private:
  void AddDevice(CLI::App& app) {
    app.add_option("--device", device_, "The device; default: the only one")->type_name("NAME");
  }

  void DefineShow(CLI::App& app) {
    AddDevice(app);
    format_.AddWithoutCsvTo(app);
  }

  void DefineSet(CLI::App& app) {
    set_ = &app;
    AddDevice(app);
    change_.AddTo(app);
    app.footer(
        "GROUPS is all, none, or names separated by commas. The command ends when the change is in force.\n"
        "Examples:\n"
        "  sideband counting set --vm vm1 --allow tlb,memory --pin memory\n"
        "  sideband counting set --vm vm1 --context train --value tlb\n"
        "  sideband counting set --group host --valid off");
  }

  void DefineExplain(CLI::App& app) {
    explain_ = &app;
    AddDevice(app);
    app.add_option("--vm", question_.vm, "The VM, by name")->type_name("NAME")->required();
    app.add_option("--context", question_.context, "A context of the VM")->type_name("NAME");
    app.add_option("--event", question_.event, "The event")->type_name("NAME")->required();
  }

  absl::StatusOr<v1::GetCountingResponse> Get(TelemetryClient& client) {
    v1::GetCountingRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOr(device_, client));
    auto response = client.GetCounting(request);
    if (!response.ok()) return Explained(response.status());
    return response;
  }

  absl::Status ExplainEvent(const v1::GetCountingResponse& actual, CommandContext& context) const {
    const auto explanation = Explain(actual, question_);
    if (!explanation.ok()) return MarkRemote(explanation.status());
    return context.out().Write(ExplanationText(question_, *explanation, context.StyleOf({})));
  }

  absl::Status Set(const v1::GetCountingResponse& actual, TelemetryClient& client, CommandContext& context) {
    SIDEBAND_ASSIGN_OR_RETURN(const v1::SetCountingRequest request, change_.Request(actual));
    const auto response = client.SetCounting(request);
    if (!response.ok()) return response.status();
    if (!response->refused().empty()) return Refused(*response);
    if (request.validate_only()) return context.out().Write("nothing would be refused\n");
    SIDEBAND_RETURN_IF_ERROR(Await(client, context));
    if (response->settings_stored()) return absl::OkStatus();
    return context.out().Write("not stored: the change is lost when sidebandd and the device have restarted\n");
  }

  static absl::Status Refused(const v1::SetCountingResponse& response) {
    std::string text = "nothing was changed";
    for (const v1::RefusedField& refused : response.refused()) {
      absl::StrAppend(&text, "; ", refused.field(), ": ", refused.reason());
    }
    return MarkRemote(absl::FailedPreconditionError(text));
  }

  absl::Status Await(TelemetryClient& client, CommandContext& context) {
    const absl::Time end = context.Now() + kFollowMax;
    while (true) {
      SIDEBAND_ASSIGN_OR_RETURN(const v1::GetCountingResponse now, Get(client));
      if (now.in_sync()) return context.out().Write(absl::StrCat("revision ", now.revision(), " is in force\n"));
      if (context.Now() >= end) {
        return MarkRemote(
            absl::DeadlineExceededError("the device has not taken the change yet; the daemon keeps trying"));
      }
      if (context.Wait(kAskAgain)) return absl::CancelledError("stopped waiting; the daemon keeps trying");
    }
  }

  CLI::App* set_ = nullptr;
  CLI::App* explain_ = nullptr;
  std::string device_;
  CountingChange change_;
  ExplainQuestion question_;
  FormatOption format_;
};

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

void CountingChange::AddTo(CLI::App& app) {
  AddNames(app, "--vm", vm_, "Change this VM, by name or UUID").type_name("NAME");
  AddNames(app, "--value", value_,
           "The VM's own value: the gate groups that it opens; all, none, or names separated by commas")
      .type_name("GROUPS");
  AddNames(app, "--context", context_, "With --value: change the value of this context instead of the VM's own")
      .type_name("NAME");
  AddNames(app, "--allow", allow_, "Gate groups that the VM may open (operators)").type_name("GROUPS");
  AddNames(app, "--pin", pin_, "Gate groups that the VM cannot close (operators)").type_name("GROUPS");
  AddNames(app, "--host-value", host_value_, "Gate groups that are open while the hypervisor runs (operators)")
      .type_name("GROUPS");
  AddNames(app, "--ids", ids_, "Identifiers that the VM names, at most 4; none: all match (operators)")
      .type_name("IDS");
  app.add_option("--selection", selection_, "The selection of events that is counted for the VM")
      ->check(CLI::Range(0u, kSelectionMax))
      ->type_name("N");
  AddSwitch(app, "--guest-access", guest_access_, "Whether the guest writes its registers itself (operators)");
  AddSwitch(app, "--useren", useren_, "Whether its users' programs may read the registers (operators)");
  AddSwitch(app, "--store", store_, "Whether the guest's changes of the VM's value are kept after an exit (operators)");
  AddNames(app, "--group", group_, "Change this gate group (operators)").type_name("NAME");
  AddSwitch(app, "--valid", valid_, "Whether the group counts at all");
  AddSwitch(app, "--guest", guest_, "Whether it counts while VMs run");
  AddSwitch(app, "--host", host_, "Whether it counts while the hypervisor runs");
  app.add_option("--identifier", identifier_, "Its identifier; 0 matches every VM")
      ->check(CLI::Range(0u, kIdentifierMax))
      ->type_name("ID");
  app.add_option("--revision", revision_, "Only if this revision is in force; default: any")->type_name("N");
  app.add_flag("--check", is_check_, "Change nothing; say what would be refused");
}

bool CountingChange::HasVmField() const {
  return value_ || host_value_ || allow_ || pin_ || ids_ || guest_access_ || useren_ || store_ || selection_ ||
         !context_.empty();
}

absl::Status CountingChange::AddVm(const v1::GetCountingResponse& actual, v1::SetCountingRequest& request) const {
  if (!HasVmField()) return absl::InvalidArgumentError("--vm: nothing to set, such as --value");
  v1::VmCounting& vm = *request.add_vms();
  vm.set_vm(vm_);
  if (!context_.empty()) {
    if (!value_) return absl::InvalidArgumentError("--context: needs --value");
    v1::ContextCounting& context = *vm.add_contexts();
    context.set_context(context_);
    *context.mutable_value() = ValueOf(*value_, actual);
  } else if (value_) {
    *vm.mutable_value() = ValueOf(*value_, actual);
  }
  if (host_value_) *vm.mutable_host_value() = ValueOf(*host_value_, actual);
  if (allow_) *vm.mutable_allowed() = ValueOf(*allow_, actual);
  if (pin_) *vm.mutable_pinned() = ValueOf(*pin_, actual);
  if (ids_) {
    SIDEBAND_ASSIGN_OR_RETURN(*vm.mutable_ids(), ParseIds(*ids_));
  }
  if (guest_access_) vm.set_guest_access(*guest_access_);
  if (useren_) vm.set_useren(*useren_);
  if (store_) vm.set_store(*store_);
  if (selection_) vm.set_selection(*selection_);
  return absl::OkStatus();
}

absl::Status CountingChange::AddGroup(v1::SetCountingRequest& request) const {
  if (!valid_ && !guest_ && !host_ && !identifier_) {
    return absl::InvalidArgumentError("--group: nothing to set, such as --valid off");
  }
  v1::GroupChange& group = *request.add_groups();
  group.set_name(group_);
  if (valid_) group.set_valid(*valid_);
  if (guest_) group.set_guest(*guest_);
  if (host_) group.set_host(*host_);
  if (identifier_) group.set_identifier(*identifier_);
  return absl::OkStatus();
}

absl::StatusOr<v1::SetCountingRequest> CountingChange::Request(const v1::GetCountingResponse& actual) const {
  if (vm_.empty() && HasVmField()) return absl::InvalidArgumentError("--vm: is needed to change a VM");
  if (group_.empty() && (valid_ || guest_ || host_ || identifier_)) {
    return absl::InvalidArgumentError("--group: is needed to change a gate group");
  }
  if (vm_.empty() && group_.empty()) return absl::InvalidArgumentError("counting set: --vm or --group is needed");
  v1::SetCountingRequest request;
  request.set_device(actual.device());
  request.set_expected_revision(revision_);
  request.set_validate_only(is_check_);
  if (!vm_.empty()) SIDEBAND_RETURN_IF_ERROR(AddVm(actual, request));
  if (!group_.empty()) SIDEBAND_RETURN_IF_ERROR(AddGroup(request));
  return request;
}

std::unique_ptr<Command> NewCountingCommand() { return std::make_unique<CountingCommand>(); }

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include "client/counting/counting_change.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

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

absl::StatusOr<v1::VmCounting::Ids> IdsOf(const std::string& list) {
  v1::VmCounting::Ids ids;
  if (list == "none") return ids;
  for (const std::string& word : Split(list)) {
    uint32_t id = 0;
    if (!absl::SimpleAtoi(word, &id) || id == 0 || id > kIdentifierMax) {
      return absl::InvalidArgumentError(absl::StrCat("--ids: '", word, "' is no number from 1 to ", kIdentifierMax));
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

}  // namespace

void CountingChange::AddTo(CLI::App& app) {
  AddNames(app, "--vm", vm_, "Change this VM, by name or UUID").type_name("NAME");
  AddNames(app, "--value", value_, "Its own value: the gate groups that it opens; all, none, or names with commas")
      .type_name("GROUPS");
  AddNames(app, "--context", context_, "With --value: the value of this context of the VM").type_name("NAME");
  AddNames(app, "--allow", allow_, "What the VM may open (operators)").type_name("GROUPS");
  AddNames(app, "--pin", pin_, "What it cannot close (operators)").type_name("GROUPS");
  AddNames(app, "--host-value", host_value_, "What is open while the hypervisor runs (operators)").type_name("GROUPS");
  AddNames(app, "--ids", ids_, "The identifiers that it names, at most 4; none: all match (operators)")
      .type_name("IDS");
  app.add_option("--selection", selection_, "The selection of events that is counted for it")
      ->check(CLI::Range(0u, kSelectionMax))
      ->type_name("N");
  AddSwitch(app, "--guest-access", guest_access_, "Whether the guest writes its registers itself (operators)");
  AddSwitch(app, "--useren", useren_, "Whether its users' programs may read by registers (operators)");
  AddSwitch(app, "--store", store_, "Whether its own changes of its value outlast an exit (operators)");
  AddNames(app, "--group", group_, "Change this gate group (operators)").type_name("NAME");
  AddSwitch(app, "--valid", valid_, "Whether the group counts at all");
  AddSwitch(app, "--guest", guest_, "Whether it counts while VMs run");
  AddSwitch(app, "--host", host_, "Whether it counts while the hypervisor runs");
  app.add_option("--identifier", identifier_, "Its identifier; 0: of every VM")
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
    SIDEBAND_ASSIGN_OR_RETURN(*vm.mutable_ids(), IdsOf(*ids_));
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

}  // namespace sideband::client

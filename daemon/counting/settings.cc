// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/settings.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/text.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {
namespace {

using mailbox::CountingConfig;
using mailbox::GateValue;
using mailbox::VmControl;

constexpr char kNoVm[] = "no such VM", kNoContext[] = "no such context";

// Settings of a VM that has gone must not pass to one that bears its UUID as a name.
const mailbox::VmInfo* FindVm(const mailbox::Catalog& catalog, const std::string& name) {
  const auto uuid = Uuid::Parse(name);
  const auto vm = std::ranges::find_if(
      catalog.vms, [&](const mailbox::VmInfo& info) { return uuid.ok() ? info.uuid == *uuid : info.name == name; });
  return vm == catalog.vms.end() ? nullptr : &*vm;
}

// Empty if the catalogue has none.
std::string SelectionName(const mailbox::Catalog& catalog, uint32_t number) {
  return number < catalog.selections.size() ? catalog.selections[number].name : "";
}

// Groups of the VM that are pinned, and of whose events, counted in selections only, its selection has none: they are
// as good as closed.
uint64_t ClosedPins(const mailbox::Catalog& catalog, const CountingConfig& config, const VmControl& vm) {
  if (vm.selection >= config.selections.size()) return 0;
  uint64_t selectable = 0, selected = 0;
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    const auto& details = catalog.events[event].details;
    if (!details.selectable || details.gate_group >= mailbox::kGateGroupsMax) continue;
    const uint64_t group = uint64_t{1} << details.gate_group;
    selectable |= group;
    if (mailbox::Includes(config.selections[vm.selection], event)) selected |= group;
  }
  return vm.pinned & selectable & ~selected;
}

class Layer {
 public:
  Layer(const mailbox::Catalog& catalog, CountingConfig& config) : catalog_(catalog), config_(config) {
    for (const mailbox::GateGroupInfo& group : catalog.gate_groups) group_names_.push_back(group.name);
  }

  void Add(const CountingSettings& settings) {
    for (const auto& [name, group] : settings.groups) AddGroup(name, group);
    for (const auto& [name, vm] : settings.vms) AddVm(name, vm);
  }
  std::vector<Refusal> TakeRefusals() { return std::move(refusals_); }

 private:
  void Refuse(const std::string& field, const std::string& reason) { refusals_.push_back({field, reason}); }

  std::optional<size_t> FindGroup(const std::string& field, const std::string& name) {
    const auto found = std::ranges::find(group_names_, name);
    if (found != group_names_.end()) return found - group_names_.begin();
    Refuse(field, absl::StrCat("no gate group '", name, "'", DidYouMean(name, group_names_)));
    return std::nullopt;
  }

  std::optional<uint64_t> VectorOf(const std::string& field, const GroupNames& names) {
    uint64_t vector = 0;
    const size_t before = refusals_.size();
    for (const std::string& name : names) {
      if (const auto group = FindGroup(field, name)) vector |= uint64_t{1} << *group;
    }
    return refusals_.size() == before ? std::optional(vector) : std::nullopt;
  }

  std::optional<GateValue> ValueOf(const std::string& field, const GateSetting& setting) {
    GateValue value{.master = setting.master, .vector_enable = setting.groups.has_value()};
    if (!setting.groups) return value;
    const auto vector = VectorOf(field, *setting.groups);
    if (!vector) return std::nullopt;
    value.vector = *vector;
    return value;
  }

  void AddGroup(const std::string& name, const GroupSetting& setting) {
    const auto group = FindGroup(absl::StrCat("groups.", name), name);
    if (!group) return;
    for (auto& groups : config_.groups) {
      if (*group >= groups.size()) return Refuse(absl::StrCat("groups.", name), "the device does not have it");
      mailbox::GateGroup& gate = groups[*group];
      gate.valid = setting.valid.value_or(gate.valid);
      gate.in_guest = setting.guest.value_or(gate.in_guest);
      gate.in_host = setting.host.value_or(gate.in_host);
      gate.identifier = setting.identifier.value_or(gate.identifier);
    }
  }

  void AddVm(const std::string& name, const VmSetting& setting) {
    const std::string path = absl::StrCat("vms.", name);
    const mailbox::VmInfo* const vm = FindVm(catalog_, name);
    const auto control = vm == nullptr ? config_.vms.end() : config_.vms.find(vm->id);
    if (control == config_.vms.end()) return Refuse(path, kNoVm);
    if (setting.allowed) AddVector(path + ".allowed", *setting.allowed, control->second.allowed);
    if (vm->confidential) return RefuseOthers(path, setting);
    const VmControl before = control->second;
    AddValues(path, setting, control->second);
    AddFlags(path, setting, control->second);
    CheckPins(path, setting, before, control->second);
    for (const auto& [context, value] : setting.contexts) AddContext(path, *vm, context, value);
  }

  void RefuseOthers(const std::string& path, VmSetting setting) {
    setting.allowed.reset();
    if (setting != VmSetting()) Refuse(path, "it is confidential: only the groups that it may open can be set");
  }

  void AddVector(const std::string& field, const GroupNames& names, uint64_t& vector) {
    if (const auto named = VectorOf(field, names)) vector = *named;
  }

  void AddValues(const std::string& path, const VmSetting& setting, VmControl& control) {
    if (setting.pinned) AddVector(path + ".pinned", *setting.pinned, control.pinned);
    if (setting.value) {
      if (const auto value = ValueOf(path + ".value", *setting.value)) {
        control.guest_value = *value;
        control.guest_load = true;
      }
    }
    if (setting.host_value) {
      if (const auto value = ValueOf(path + ".host_value", *setting.host_value)) {
        control.host_value = *value;
        control.host_load = true;
      }
    }
  }

  void AddFlags(const std::string& path, const VmSetting& setting, VmControl& control) {
    control.guest_access = setting.guest_access.value_or(control.guest_access);
    control.useren = setting.useren.value_or(control.useren);
    control.guest_store = setting.store.value_or(control.guest_store);
    if (setting.ids) AddIds(path + ".ids", *setting.ids, control.match);
    if (setting.selection) AddSelection(path + ".selection", *setting.selection, setting.selection_name, control);
  }

  void AddSelection(const std::string& field, uint32_t number, const std::string& name, VmControl& control) {
    if (number != 0 && number >= config_.selections.size()) return Refuse(field, NoSelection(number));
    if (!name.empty() && name != SelectionName(catalog_, number)) {
      return Refuse(field, absl::StrCat("selection ", number, " is no longer '", name, "'"));
    }
    control.selection = static_cast<uint8_t>(number);
  }

  // A pin and a selection that closes it: the one that is set is refused.
  void CheckPins(const std::string& path, const VmSetting& setting, const VmControl& before, VmControl& control) {
    const uint64_t closed_before = ClosedPins(catalog_, config_, before);
    const auto closes = [&] { return ClosedPins(catalog_, config_, control) & ~closed_before; };
    if (setting.pinned && closes() != 0) {
      Refuse(path + ".pinned", NoEvents(closes(), control.selection));
      control.pinned = before.pinned;
    }
    if (setting.selection && closes() != 0) {
      Refuse(path + ".selection", NoEvents(closes(), control.selection));
      control.selection = before.selection;
    }
  }

  std::string NoEvents(uint64_t groups, uint32_t selection) const {
    return absl::StrCat("selection ", selection, " has no events of the pinned gate group '",
                        group_names_[static_cast<size_t>(std::countr_zero(groups))], "'");
  }

  void AddIds(const std::string& field, const std::vector<uint16_t>& ids, mailbox::GateMatch& match) {
    if (ids.size() > mailbox::kGateIdsMax) return Refuse(field, absl::StrCat("more than ", mailbox::kGateIdsMax));
    if (std::ranges::find(ids, 0) != ids.end()) return Refuse(field, "0 is not an identifier");
    match = {.enable = !ids.empty()};
    std::ranges::copy(ids, match.ids.begin());
  }

  void AddContext(const std::string& path, const mailbox::VmInfo& vm, const std::string& name,
                  const GateSetting& setting) {
    const std::string field = absl::StrCat(path, ".contexts.", name);
    const auto context = std::ranges::find_if(
        catalog_.contexts, [&](const mailbox::ContextInfo& info) { return info.vm == vm.id && info.name == name; });
    const auto control =
        context == catalog_.contexts.end() ? config_.contexts.end() : config_.contexts.find({vm.id, context->id});
    if (control == config_.contexts.end()) return Refuse(field, kNoContext);
    const auto value = ValueOf(field, setting);
    if (!value) return;
    control->second.value = *value;
    control->second.load = true;
  }

  const mailbox::Catalog& catalog_;
  CountingConfig& config_;
  std::vector<std::string> group_names_;
  std::vector<Refusal> refusals_;
};

template <typename T>
void Take(const std::optional<T>& over, std::optional<T>& under) {
  if (over) under = over;
}

void MergeVm(const VmSetting& over, VmSetting& vm) {
  Take(over.value, vm.value);
  Take(over.host_value, vm.host_value);
  Take(over.allowed, vm.allowed);
  Take(over.pinned, vm.pinned);
  Take(over.ids, vm.ids);
  Take(over.guest_access, vm.guest_access);
  Take(over.useren, vm.useren);
  Take(over.store, vm.store);
  if (over.selection) vm.selection_name = over.selection_name;
  Take(over.selection, vm.selection);
  for (const auto& [name, value] : over.contexts) vm.contexts[name] = value;
}

bool IsBeyondLimits(const CountingSettings& settings) {
  size_t contexts = 0;
  for (const auto& [name, vm] : settings.vms) contexts += vm.contexts.size();
  return settings.groups.size() > mailbox::kGateGroupsMax || settings.vms.size() > mailbox::kVmsMax ||
         contexts > mailbox::kContextsMax;
}

bool HasContext(const mailbox::Catalog& catalog, uint16_t vm, const std::string& name) {
  return std::ranges::any_of(
      catalog.contexts, [&](const mailbox::ContextInfo& context) { return context.vm == vm && context.name == name; });
}

}  // namespace

std::string NoSelection(uint32_t selection) { return absl::StrCat("no selection ", selection); }

bool IsOfAbsent(const Refusal& refusal) { return refusal.reason == kNoVm || refusal.reason == kNoContext; }

std::vector<Refusal> Apply(const CountingSettings& settings, const mailbox::Catalog& catalog, CountingConfig& config) {
  Layer layer(catalog, config);
  layer.Add(settings);
  return layer.TakeRefusals();
}

void NameSelections(const mailbox::Catalog& catalog, CountingSettings& settings) {
  for (auto& [name, vm] : settings.vms) {
    if (vm.selection) vm.selection_name = SelectionName(catalog, *vm.selection);
  }
}

void Merge(const CountingSettings& over, CountingSettings& settings) {
  for (const auto& [name, group] : over.groups) {
    if (group == GroupSetting()) continue;
    GroupSetting& under = settings.groups[name];
    Take(group.valid, under.valid);
    Take(group.guest, under.guest);
    Take(group.host, under.host);
    Take(group.identifier, under.identifier);
  }
  for (const auto& [name, vm] : over.vms) {
    if (vm != VmSetting()) MergeVm(vm, settings.vms[name]);
  }
}

void DropAbsentBeyondLimits(const mailbox::Catalog& catalog, CountingSettings& settings) {
  if (!IsBeyondLimits(settings)) return;
  std::erase_if(settings.groups, [&](const auto& group) {
    return std::ranges::find(catalog.gate_groups, group.first, &mailbox::GateGroupInfo::name) ==
           catalog.gate_groups.end();
  });
  std::erase_if(settings.vms, [&](const auto& vm) { return FindVm(catalog, vm.first) == nullptr; });
  for (auto& [name, vm] : settings.vms) {
    const uint16_t id = FindVm(catalog, name)->id;
    std::erase_if(vm.contexts, [&](const auto& context) { return !HasContext(catalog, id, context.first); });
  }
}

}  // namespace sideband::daemon

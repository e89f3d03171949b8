// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/counting_request.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using mailbox::Catalog;
using mailbox::CountingConfig;
using mailbox::VmInfo;
using sideband::v1::SetCountingRequest;
using sideband::v1::VmCounting;

constexpr char kTwice[] = "is given twice";

bool MayChoose(const Caller& caller, const VmInfo& vm, const std::string& event) {
  return caller.May(Resource::Vm(vm.uuid, caller.IsConfidential(vm)).Event(event), Right::kConfigure);
}

// Each name once: settings are stored, and a request may repeat a name as often as its size allows.
GroupNames NamesOf(const sideband::v1::GateValue& value) {
  GroupNames names;
  std::set<std::string> seen;
  for (const std::string& name : value.groups()) {
    if (seen.insert(name).second) names.push_back(name);
  }
  return names;
}

class RequestReader {
 public:
  RequestReader(const Caller& caller, const CountingState& state, std::vector<Refusal>& refusals)
      : caller_(caller), state_(state), refusals_(refusals) {}

  CountingSettings Read(const SetCountingRequest& request) {
    CountingSettings settings;
    for (const auto& group : request.groups()) ReadGroup(group, settings);
    for (const VmCounting& vm : request.vms()) ReadVm(vm, settings);
    return settings;
  }

 private:
  const Catalog& catalog() const { return state_.actual.topology->catalog(); }
  void Refuse(std::string field, std::string reason) { refusals_.push_back({std::move(field), std::move(reason)}); }

  void ReadGroup(const sideband::v1::GroupChange& change, CountingSettings& settings) {
    if (!caller_.is_operator()) return Refuse(absl::StrCat("groups.", change.name()), "only operators set it");
    const auto [added, is_new] = settings.groups.try_emplace(change.name());
    if (!is_new) return Refuse(absl::StrCat("groups.", change.name()), kTwice);
    GroupSetting& group = added->second;
    if (change.has_valid()) group.valid = change.valid();
    if (change.has_guest()) group.guest = change.guest();
    if (change.has_host()) group.host = change.host();
    if (!change.has_identifier()) return;
    if (change.identifier() > UINT16_MAX)
      return Refuse(absl::StrCat("groups.", change.name()), "identifier above 65535");
    group.identifier = static_cast<uint16_t>(change.identifier());
  }

  void ReadVm(const VmCounting& request, CountingSettings& settings) {
    const std::string path = absl::StrCat("vms.", request.vm());
    const VmInfo* const vm = state_.actual.topology->FindVm(request.vm());
    if (vm == nullptr || !MayConfigure(caller_, catalog(), *vm)) return Refuse(path, "no such VM");
    const auto [added, is_new] = settings.vms.try_emplace(vm->uuid.ToString());
    if (!is_new) return Refuse(path, kTwice);
    if (request.confidential()) Refuse(path + ".confidential", "cannot be set");
    VmSetting& setting = added->second;
    if (caller_.is_operator()) {
      ReadOperators(path, request, setting);
      if (request.has_value()) setting.value = GateSetting{.groups = NamesOf(request.value())};
    } else {
      RefuseOperators(path, request);
      if (request.has_value()) setting.value = ValueWithin(path + ".value", request.value(), *vm, OwnValue(*vm));
    }
    if (request.has_selection()) ReadSelection(path + ".selection", request.selection(), *vm, setting);
    for (const auto& context : request.contexts()) ReadContext(path, context, *vm, setting);
  }

  void ReadOperators(const std::string& path, const VmCounting& request, VmSetting& setting) {
    if (request.has_allowed()) setting.allowed = NamesOf(request.allowed());
    if (request.has_pinned()) setting.pinned = NamesOf(request.pinned());
    if (request.has_host_value()) setting.host_value = GateSetting{.groups = NamesOf(request.host_value())};
    if (request.has_guest_access()) setting.guest_access = request.guest_access();
    if (request.has_useren()) setting.useren = request.useren();
    if (request.has_store()) setting.store = request.store();
    if (request.has_ids()) ReadIds(path + ".ids", request.ids(), setting);
  }

  void ReadIds(const std::string& field, const VmCounting::Ids& ids, VmSetting& setting) {
    setting.ids.emplace();
    for (const uint32_t id : ids.ids()) {
      if (id > UINT16_MAX) return Refuse(field, "an identifier above 65535");
      setting.ids->push_back(static_cast<uint16_t>(id));
    }
  }

  void RefuseOperators(const std::string& path, const VmCounting& request) {
    const std::pair<const char*, bool> kFields[] = {{"allowed", request.has_allowed()},
                                                    {"pinned", request.has_pinned()},
                                                    {"host_value", request.has_host_value()},
                                                    {"ids", request.has_ids()},
                                                    {"guest_access", request.has_guest_access()},
                                                    {"useren", request.has_useren()},
                                                    {"store", request.has_store()}};
    for (const auto& [name, is_set] : kFields) {
      if (is_set) Refuse(absl::StrCat(path, ".", name), "only operators set it");
    }
  }

  // A tenant's reason is that of a selection that is not there (settings.h).
  void ReadSelection(const std::string& field, uint32_t selection, const VmInfo& vm, VmSetting& setting) {
    if (!MaySelect(caller_, state_, vm, selection)) return Refuse(field, NoSelection(selection));
    setting.selection = selection;
  }

  void ReadContext(const std::string& path, const sideband::v1::ContextCounting& request, const VmInfo& vm,
                   VmSetting& setting) {
    const std::string field = absl::StrCat(path, ".contexts.", request.context());
    if (!MaySee(vm, request.context())) return Refuse(field, "no such context");
    if (!request.has_value()) return Refuse(field, "has no value");
    if (setting.contexts.contains(request.context())) return Refuse(field, kTwice);
    setting.contexts[request.context()] = ValueWithin(field, request.value(), vm, ValueOf(vm, request.context()));
  }

  bool MaySee(const VmInfo& vm, const std::string& context) const {
    return caller_.May(Resource::Context(vm.uuid, caller_.IsConfidential(vm), context), Right::kRead);
  }

  uint64_t OwnValue(const VmInfo& vm) const {
    const auto control = state_.desired.vms.find(vm.id);
    if (control == state_.desired.vms.end() || !control->second.guest_load) return ~uint64_t{0};
    return control->second.guest_value.Enabled();
  }

  uint64_t ValueOf(const VmInfo& vm, const std::string& name) const {
    for (const mailbox::ContextInfo& context : catalog().contexts) {
      if (context.vm != vm.id || context.name != name) continue;
      const auto control = state_.desired.contexts.find({vm.id, context.id});
      const bool is_loaded = control != state_.desired.contexts.end() && control->second.load;
      return is_loaded ? control->second.value.Enabled() : ~uint64_t{0};
    }
    return ~uint64_t{0};
  }

  // The requested groups, and of those that are not granted the ones that are enabled.
  GateSetting ValueWithin(const std::string& field, const sideband::v1::GateValue& request, const VmInfo& vm,
                          uint64_t enabled) {
    const uint64_t granted = GroupsOf(caller_, catalog(), vm);
    GroupNames names = NamesOf(request), known;
    const auto& groups = catalog().gate_groups;
    for (size_t g = 0; g < groups.size(); ++g) {
      if ((granted >> g & 1) != 0) known.push_back(groups[g].name);
    }
    for (const std::string& name : names) {
      if (std::ranges::find(known, name) == known.end()) Refuse(field, absl::StrCat("no gate group '", name, "'"));
    }
    for (size_t g = 0; g < groups.size(); ++g) {
      if ((enabled & ~granted) >> g & 1) names.push_back(groups[g].name);
    }
    return {.groups = std::move(names)};
  }

  const Caller& caller_;
  const CountingState& state_;
  std::vector<Refusal>& refusals_;
};

}  // namespace

uint64_t GroupsOf(const Caller& caller, const Catalog& catalog, const VmInfo& vm) {
  uint64_t groups = 0;
  for (size_t g = 0; g < catalog.gate_groups.size(); ++g) {
    const Resource group = Resource::GateGroup(vm.uuid, caller.IsConfidential(vm), catalog.gate_groups[g].name);
    if (caller.May(group, Right::kConfigure)) groups |= uint64_t{1} << g;
  }
  return groups;
}

bool MayConfigure(const Caller& caller, const Catalog& catalog, const VmInfo& vm) {
  if (GroupsOf(caller, catalog, vm) != 0) return true;
  return std::ranges::any_of(catalog.events, [&](const mailbox::EventInfo& event) {
    return event.details.selectable && MayChoose(caller, vm, event.name);
  });
}

bool MaySelect(const Caller& caller, const CountingState& state, const VmInfo& vm, uint32_t selection) {
  const CountingConfig& config = state.desired;
  const auto control = config.vms.find(vm.id);
  if (caller.is_operator() || control == config.vms.end()) return true;
  if (selection >= config.selections.size() || control->second.selection >= config.selections.size()) return false;
  const auto& events = state.actual.topology->catalog().events;
  for (size_t event = 0; event < events.size(); ++event) {
    const bool is_counted = mailbox::Includes(config.selections[control->second.selection], event);
    const bool will_be = mailbox::Includes(config.selections[selection], event);
    if (is_counted != will_be && !MayChoose(caller, vm, events[event].name)) return false;
    // A pinned group of which a selection has no events is as good as closed.
    const uint8_t group = events[event].details.gate_group;
    const bool is_pinned = group < mailbox::kGateGroupsMax && (control->second.pinned >> group & 1) != 0;
    if (is_counted && !will_be && is_pinned) return false;
  }
  return true;
}

CountingSettings SettingsOf(const SetCountingRequest& request, const Caller& caller, const CountingState& state,
                            std::vector<Refusal>& refusals) {
  return RequestReader(caller, state, refusals).Read(request);
}

}  // namespace sideband::daemon

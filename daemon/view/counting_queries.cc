// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/counting_queries.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/view/row_filter.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using mailbox::CountingConfig;
using mailbox::VmInfo;
using sideband::v1::GetCountingRequest;
using sideband::v1::GetCountingResponse;
using sideband::v1::SetCountingRequest;
using sideband::v1::SetCountingResponse;

constexpr int kTriesMax = 4;

// Whether the caller may learn that the device has a configuration.
bool Sees(const Caller& caller, const mailbox::Catalog& catalog) {
  return caller.is_operator() ||
         std::ranges::any_of(catalog.vms, [&](const VmInfo& vm) { return MayConfigure(caller, catalog, vm); });
}

bool HaveSameEvents(const Topology& one, const Topology& other) {
  return one.hash() == other.hash() || one.catalog().events == other.catalog().events;
}

// The part of a device's configuration that a caller may see.
class ResponseWriter {
 public:
  ResponseWriter(const Caller& caller, const VisibleDevice& device, const CountingState& state)
      : caller_(caller), device_(device), state_(state), catalog_(state.actual.topology->catalog()) {}

  // Without the revision and `in_sync`.
  GetCountingResponse Write() {
    GetCountingResponse response;
    response.set_device(device_.info->name);
    response.set_settings_stored(state_.is_stored);
    uint64_t seen = 0;
    for (const VmInfo& vm : catalog_.vms) {
      const uint64_t groups = GroupsOf(caller_, catalog_, vm);
      const auto control = state_.actual.config.vms.find(vm.id);
      if (!MayConfigure(caller_, catalog_, vm) || control == state_.actual.config.vms.end()) continue;
      seen |= groups;
      WriteVm(vm, control->second, groups, *response.add_vms());
    }
    for (size_t g = 0; g < catalog_.gate_groups.size(); ++g) {
      if (caller_.is_operator() || (seen >> g & 1) != 0) WriteGroup(g, *response.add_groups());
    }
    WriteSelections(response);
    if (!caller_.is_operator()) return response;
    for (const Refusal& refusal : state_.refusals) Write(refusal, *response.add_refused());
    return response;
  }

  static void Write(const Refusal& refusal, sideband::v1::RefusedField& out) {
    out.set_field(refusal.field);
    out.set_reason(refusal.reason);
  }

 private:
  void WriteValue(uint64_t vector, uint64_t groups, sideband::v1::GateValue& out) const {
    for (size_t g = 0; g < catalog_.gate_groups.size(); ++g) {
      if ((vector & groups) >> g & 1) out.add_groups(catalog_.gate_groups[g].name);
    }
  }

  // Slices are configured alike; the first one stands for all.
  void WriteGroup(size_t g, sideband::v1::GateGroup& out) const {
    out.set_name(catalog_.gate_groups[g].name);
    for (size_t event = 0; event < catalog_.events.size(); ++event) {
      const bool is_of_group = catalog_.events[event].details.gate_group == g;
      if (is_of_group && event != catalog_.gate_groups[g].running_event && device_.view->AllEvents()[event]) {
        out.add_events(catalog_.events[event].name);
      }
    }
    const auto& slices = state_.actual.config.groups;
    if (slices.empty() || g >= slices[0].size()) return;
    out.set_valid(slices[0][g].valid);
    out.set_guest(slices[0][g].in_guest);
    out.set_host(slices[0][g].in_host);
    out.set_identifier(slices[0][g].identifier);
  }

  void WriteSelections(GetCountingResponse& response) const {
    const auto& selections = state_.actual.config.selections;
    for (uint32_t number = 0; number < selections.size(); ++number) {
      if (!MaySeeSelection(number)) continue;
      sideband::v1::EventSelection& out = *response.add_selections();
      out.set_number(number);
      if (number < catalog_.selections.size()) out.set_name(catalog_.selections[number].name);
      for (size_t event = 0; event < catalog_.events.size(); ++event) {
        if (mailbox::Includes(selections[number], event)) AddEvent(event, *out.mutable_events());
      }
    }
    for (size_t event = 0; event < catalog_.events.size(); ++event) {
      if (catalog_.events[event].details.selectable) AddEvent(event, *response.mutable_selectable_events());
    }
  }

  bool MaySeeSelection(uint32_t number) const {
    return caller_.is_operator() || std::ranges::any_of(catalog_.vms, [&](const VmInfo& vm) {
             return MayConfigure(caller_, catalog_, vm) && MaySelect(caller_, state_, vm, number);
           });
  }

  void AddEvent(size_t event, google::protobuf::RepeatedPtrField<std::string>& out) const {
    if (device_.view->AllEvents()[event]) *out.Add() = catalog_.events[event].name;
  }

  void WriteVm(const VmInfo& vm, const mailbox::VmControl& control, uint64_t groups, sideband::v1::VmCounting& out) {
    out.set_vm(vm.name);
    out.set_confidential(caller_.IsConfidential(vm));
    WriteValue(control.allowed, groups, *out.mutable_allowed());
    if (out.confidential()) return;
    WriteValue(control.pinned, groups, *out.mutable_pinned());
    if (control.guest_load) WriteValue(control.guest_value.Enabled(), groups, *out.mutable_value());
    if (control.host_load) WriteValue(control.host_value.Enabled(), groups, *out.mutable_host_value());
    if (control.match.enable) {
      for (const uint16_t id : control.match.ids) {
        if (id != 0) out.mutable_ids()->add_ids(id);
      }
      out.mutable_ids();
    }
    out.set_guest_access(control.guest_access);
    out.set_useren(control.useren);
    out.set_store(control.guest_store);
    if (!state_.actual.config.selections.empty()) out.set_selection(control.selection);
    WriteContexts(vm, groups, out);
  }

  void WriteContexts(const VmInfo& vm, uint64_t groups, sideband::v1::VmCounting& out) const {
    for (const mailbox::ContextInfo& context : catalog_.contexts) {
      const auto control = state_.actual.config.contexts.find({context.vm, context.id});
      if (context.vm != vm.id || control == state_.actual.config.contexts.end() || !MaySee(vm, context.name)) continue;
      auto& row = *out.add_contexts();
      row.set_context(context.name);
      if (control->second.load) WriteValue(control->second.value.Enabled(), groups, *row.mutable_value());
    }
  }

  bool MaySee(const VmInfo& vm, const std::string& context) const {
    return caller_.May(Resource::Context(vm.uuid, caller_.IsConfidential(vm), context), Right::kRead);
  }

  const Caller& caller_;
  const VisibleDevice& device_;
  const CountingState& state_;
  const mailbox::Catalog& catalog_;
};

GetCountingResponse ContentsFor(const Caller& caller, const VisibleDevice& device, const CountingState& state) {
  return ResponseWriter(caller, device, state).Write();
}

// Whether a setting that the device cannot follow is of a VM that the caller may configure.
bool HasRefusalFor(const Caller& caller, const CountingState& state) {
  const mailbox::Catalog& catalog = state.actual.topology->catalog();
  return std::ranges::any_of(catalog.vms, [&](const VmInfo& vm) {
    return MayConfigure(caller, catalog, vm) && std::ranges::any_of(state.refusals, [&](const Refusal& refusal) {
             return absl::StartsWith(refusal.field, absl::StrCat("vms.", vm.name, ".")) ||
                    absl::StartsWith(refusal.field, absl::StrCat("vms.", vm.uuid.ToString(), "."));
           });
  });
}

// For a tenant: what it sees is what it would see once all settings are in force.
bool IsInSyncFor(const Caller& caller, const VisibleDevice& device, const CountingState& state) {
  if (caller.is_operator() || state.is_in_sync) return state.is_in_sync;
  CountingState wanted = state;
  wanted.actual.config = state.desired;
  return !HasRefusalFor(caller, state) && ContentsFor(caller, device, state).SerializeAsString() ==
                                              ContentsFor(caller, device, wanted).SerializeAsString();
}

// Settings name VMs by UUID; the caller is told of them as it has named them.
void ByNameAsAsked(const SetCountingRequest& request, const Topology& topology, std::vector<Refusal>& refusals) {
  for (const auto& vm : request.vms()) {
    const VmInfo* const info = topology.FindVm(vm.vm());
    if (info == nullptr) continue;
    for (Refusal& refusal : refusals) {
      refusal.field = absl::StrReplaceAll(refusal.field, {{info->uuid.ToString(), vm.vm()}});
    }
  }
}

using mailbox::Catalog;
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
    if (!caller_.is_operator()) return Refuse(absl::StrCat("groups.", change.name()), "only operators may set it");
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
      if (is_set) Refuse(absl::StrCat(path, ".", name), "only operators may set it");
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

uint32_t TenantRevisions::Observe(const Policy& policy, const Key& key, const GetCountingResponse& contents) {
  std::string now = contents.SerializeAsString();
  absl::MutexLock lock(&mu_);
  if (!seen_.contains(key)) {
    std::erase_if(seen_, [&](const auto& entry) {
      return std::ranges::find(policy.tenants(), entry.first.first, &Tenant::name) == policy.tenants().end();
    });
  }
  Seen& seen = seen_[key];
  if (seen.revision == 0 || seen.contents != now) ++seen.revision;
  seen.contents = std::move(now);
  return seen.revision;
}

uint32_t CountingQueries::RevisionFor(const Caller& caller, const Subject& subject) const {
  if (caller.is_operator()) return subject.state.actual.config.revision;
  const Policy& policy = *caller.policy.policy;
  GetCountingResponse contents = ContentsFor(caller, subject.device, subject.state);
  contents.clear_settings_stored();
  return revisions_.Observe(policy, {policy.tenants()[caller.principal.tenant].name, contents.device()}, contents);
}

absl::StatusOr<CountingQueries::Subject> CountingQueries::Find(const Caller& caller, const std::string& name) const {
  SIDEBAND_ASSIGN_OR_RETURN(VisibleDevice device, FindDevice(reader_, caller, name));
  auto state = book_.State(name);
  if (!state || !Sees(caller, state->actual.topology->catalog())) return NotFound();
  // The snapshots of a device that has changed its events are there before its configuration.
  if (!HaveSameEvents(*device.view->topology(), *state->actual.topology)) {
    return absl::UnavailableError("the device's configuration is not known yet; ask again");
  }
  return Subject{std::move(device), *std::move(state)};
}

absl::StatusOr<GetCountingResponse> CountingQueries::Get(const Caller& caller,
                                                         const GetCountingRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const Subject subject, Find(caller, request.device()));
  GetCountingResponse response = ContentsFor(caller, subject.device, subject.state);
  response.set_revision(RevisionFor(caller, subject));
  response.set_in_sync(IsInSyncFor(caller, subject.device, subject.state));
  return response;
}

// Tries again: a tenant's rights depend on what others set, maybe at the same time.
absl::StatusOr<SetCountingResponse> CountingQueries::Set(const Caller& caller,
                                                         const SetCountingRequest& request) const {
  auto response = TrySet(caller, request);
  for (int tries = 1; tries < kTriesMax && absl::IsAborted(response.status()); ++tries) {
    response = TrySet(caller, request);
  }
  return response;
}

absl::StatusOr<SetCountingResponse> CountingQueries::TrySet(const Caller& caller,
                                                            const SetCountingRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const Subject subject, Find(caller, request.device()));
  const uint32_t revision = RevisionFor(caller, subject), expected = request.expected_revision();
  std::vector<Refusal> refusals;
  const CountingSettings settings = SettingsOf(request, caller, subject.state, refusals);
  if (refusals.empty()) {
    // The book knows the device's revision only, which is an operator's.
    if (expected != 0 && expected != revision) return AnotherRevision(revision, expected);
    SIDEBAND_ASSIGN_OR_RETURN(refusals, book_.Set(request.device(), settings, caller.is_operator() ? expected : 0,
                                                  request.validate_only(), &subject.state.desired));
  }
  ByNameAsAsked(request, *subject.state.actual.topology, refusals);
  SetCountingResponse response;
  response.set_revision(revision);
  const auto state = book_.State(request.device());
  response.set_settings_stored(state && state->is_stored);
  for (const Refusal& refusal : refusals) ResponseWriter::Write(refusal, *response.add_refused());
  return response;
}

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

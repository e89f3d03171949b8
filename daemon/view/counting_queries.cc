// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/counting_queries.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/view/counting_request.h"
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

// What a tenant may set depends on what others have set, who may call at the same time.
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

}  // namespace sideband::daemon

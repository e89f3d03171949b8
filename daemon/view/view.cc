// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/view.h"

#include <algorithm>
#include <utility>

namespace sideband::daemon {

// Evaluates Decide() for every scope and event of the topology.
class View::Builder {
 public:
  Builder(const Policy& policy, const Principal& principal, View& view, DecisionLog* log, const std::set<Uuid>& foreign)
      : policy_(policy),
        principal_(principal),
        view_(view),
        log_(log),
        foreign_(foreign),
        catalog_(view.topology_->catalog()) {}

  void Build() {
    view_.all_events_.assign(catalog_.events.size(), false);
    if (May(Resource::Device())) AddDevice();
    for (const mailbox::VmInfo& vm : catalog_.vms) AddVm(vm);
    for (const mailbox::ContextInfo& context : catalog_.contexts) AddContext(context);
    // An operator sees a device without VMs, too.
    view_.sees_device_ = principal_.role == Principal::Role::kOperator || !view_.vms_.empty();
  }

 private:
  bool May(const Resource& resource, Right right = Right::kRead) const {
    const Decision decision = Decide(policy_, principal_, resource, right);
    if (log_ != nullptr) log_->Add(resource, right, decision);
    return decision.allowed;
  }

  // Adds the counters of `row` that may be read to the view's event sets and returns their index.
  size_t AddEvents(const Resource& row) {
    EventSet set(catalog_.events.size(), false);
    for (size_t i = 0; i < set.size(); ++i) {
      // The count of a device-scope event is unknown for a VM.
      const bool belongs = row.vm.is_nil() || catalog_.events[i].scope == mailbox::EventScope::kContext;
      set[i] = belongs && May(row.Event(catalog_.events[i].name));
      if (set[i]) view_.all_events_[i] = true;
    }
    view_.event_sets_.push_back(std::move(set));
    return view_.event_sets_.size() - 1;
  }

  void AddDevice() {
    const size_t events = AddEvents(Resource::Device());
    AddRow(mailbox::kHypervisorVm, mailbox::kNoContext, events);
    if (catalog_.host_blocks.empty()) return;
    // What the hypervisor does is a part of what the device does, of which only the device's units know the rest.
    EventSet of_hosts = view_.event_sets_[events];
    for (size_t i = 0; i < of_hosts.size(); ++i) {
      of_hosts[i] = of_hosts[i] && catalog_.events[i].scope == mailbox::EventScope::kContext;
    }
    view_.event_sets_.push_back(std::move(of_hosts));
    for (const mailbox::HostBlockInfo& host : catalog_.host_blocks) {
      AddRow(mailbox::kHypervisorVm, host.slice, view_.event_sets_.size() - 1);
    }
  }

  void AddRow(uint16_t vm, uint16_t context, size_t events) { view_.rows_.emplace(ScopeId(vm, context), events); }

  void AddVm(const mailbox::VmInfo& vm) {
    if (foreign_.contains(vm.uuid) || !May(Resource::VmIdentity(vm.uuid, vm.confidential))) return;
    view_.vms_.insert(vm.id);
    if (May(Resource::Vm(vm.uuid, vm.confidential), Right::kSeal)) view_.sealed_.insert(vm.id);
    const Resource row = Resource::Vm(vm.uuid, vm.confidential);
    if (May(row)) AddRow(vm.id, mailbox::kNoContext, AddEvents(row));
  }

  void AddContext(const mailbox::ContextInfo& context) {
    const mailbox::VmInfo* vm = view_.topology_->FindVm(context.vm);
    // A context of an unknown VM belongs to no principal.
    if (vm == nullptr || foreign_.contains(vm->uuid)) return;
    const Resource row = Resource::Context(vm->uuid, vm->confidential, context.name);
    if (!May(row)) return;
    // A grant has the same events for all its contexts, of which there may be thousands.
    const auto [known, is_first] = context_events_.try_emplace(context.vm, 0);
    if (is_first) known->second = AddEvents(row);
    AddRow(context.vm, context.id, known->second);
  }

  const Policy& policy_;
  const Principal& principal_;
  View& view_;
  DecisionLog* const log_;
  const std::set<Uuid>& foreign_;
  const mailbox::Catalog& catalog_;
  absl::flat_hash_map<uint16_t, size_t> context_events_;  // by VM
};

View::View(const Policy& policy, const Principal& principal, std::shared_ptr<const Topology> topology, DecisionLog* log,
           const std::set<Uuid>& foreign)
    : topology_(std::move(topology)) {
  Builder(policy, principal, *this, log, foreign).Build();
}

const EventSet* View::Events(uint16_t vm, uint16_t context) const {
  const auto row = rows_.find(ScopeId(vm, context));
  // A block that the topology does not name is visible to no principal.
  return row == rows_.end() ? nullptr : &event_sets_[row->second];
}

}  // namespace sideband::daemon

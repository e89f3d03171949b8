// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/snapshot_message.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "daemon/api/time_message.h"

namespace sideband::daemon {
namespace {

using mailbox::kAnySlice;
using mailbox::kHypervisorVm;
using mailbox::kNoContext;

sideband::v1::Device::State StateOf(VisibleDevice::State state) {
  switch (state) {
    case VisibleDevice::State::kFresh:
      return sideband::v1::Device::STATE_FRESH;
    case VisibleDevice::State::kStale:
      return sideband::v1::Device::STATE_STALE;
    case VisibleDevice::State::kAway:
      return sideband::v1::Device::STATE_AWAY;
  }
  return sideband::v1::Device::STATE_UNSPECIFIED;
}

// Who the row is and how it is, without its counters.
void FillHeader(const DeviceInfo& device, const Topology& topology, const mailbox::BlockHeader& block,
                sideband::v1::ScopeCounters& out) {
  *out.mutable_scope() = ScopeMessage(device, topology, block.vm, block.context);
  // The block's own generation is newer than the catalogue's where the two were read around a restart.
  out.mutable_scope()->set_generation(block.generation);
  out.set_state(StateMessage(block.state));
  for (std::string& flag : mailbox::FlagNames(block.flags)) out.add_flags(std::move(flag));
}

void FillCounters(const DeviceSnapshot& snapshot, size_t row, const EventSet& events, std::span<const double> rates,
                  sideband::v1::ScopeCounters& out) {
  const auto counters = snapshot.data.Counters(row);
  for (size_t i = 0; i < counters.size() && i < events.size(); ++i) {
    if (!events[i] || !snapshot.IsShown(row, i)) continue;
    sideband::v1::Counter& counter = *out.add_counters();
    counter.set_event(snapshot.topology->catalog().events[i].name);
    counter.set_count(counters[i]);
    if (i < rates.size() && !std::isnan(rates[i])) counter.set_rate_per_second(rates[i]);
  }
}

void FillRatios(const std::vector<Ratio>& ratios, std::span<const double> rates, const EventSet& events,
                sideband::v1::ScopeCounters& out) {
  for (const Ratio& ratio : ratios) {
    if (rates.empty() || !ratio.IsIn(events)) continue;
    const double value = RatioOf(ratio, rates);
    if (std::isnan(value)) continue;
    sideband::v1::Ratio& message = *out.add_ratios();
    message.set_name(ratio.spec->name);
    message.set_formula(ratio.spec->Formula());
    message.set_numerator_per_second(ratio.Numerator(rates));
    message.set_denominator_per_second(ratio.Denominator(rates));
    message.set_value(value);
  }
}

}  // namespace

sideband::v1::ScopeCounters::State StateMessage(mailbox::BlockState state) {
  switch (state) {
    case mailbox::BlockState::kActive:
      return sideband::v1::ScopeCounters::STATE_ACTIVE;
    case mailbox::BlockState::kIdle:
      return sideband::v1::ScopeCounters::STATE_IDLE;
    case mailbox::BlockState::kRetired:
      return sideband::v1::ScopeCounters::STATE_RETIRED;
  }
  return sideband::v1::ScopeCounters::STATE_UNSPECIFIED;
}

sideband::v1::Device DeviceMessage(const VisibleDevice& device) {
  sideband::v1::Device out;
  out.set_name(device.info->name);
  out.set_state(StateOf(device.state));
  SetDuration(device.info->interval, *out.mutable_interval());
  if (device.snapshot == nullptr) return out;
  const mailbox::Catalog& catalog = device.snapshot->topology->catalog();
  out.set_uuid(catalog.device.ToString());
  out.set_boot_id(device.snapshot->data.boot_id);
  out.set_reference_clock_hz(catalog.reference_clock_hz);
  return out;
}

sideband::v1::Event EventMessage(const mailbox::EventInfo& event) {
  sideband::v1::Event out;
  out.set_name(event.name);
  out.set_unit(event.unit);
  out.set_scope(event.scope == mailbox::EventScope::kDevice ? sideband::v1::Event::SCOPE_DEVICE
                                                            : sideband::v1::Event::SCOPE_CONTEXT);
  out.set_description(event.description);
  return out;
}

sideband::v1::Scope ScopeMessage(const DeviceInfo& device, const Topology& topology, uint16_t vm, uint16_t context) {
  sideband::v1::Scope out;
  out.set_device(device.name);
  const mailbox::VmInfo* vm_info = topology.FindVm(vm);
  if (vm_info == nullptr) return out;
  out.set_vm(vm_info->name);
  out.set_vm_uuid(vm_info->uuid.ToString());
  out.set_confidential(vm_info->confidential);
  out.set_generation(vm_info->generation);
  uint8_t slice = vm_info->slice;
  if (const mailbox::ContextInfo* context_info = topology.FindContext(vm, context)) {
    out.set_context(context_info->name);
    out.set_generation(context_info->generation);
    slice = context_info->slice;
  }
  if (slice != kAnySlice) out.set_slice(slice);
  return out;
}

std::vector<sideband::v1::Scope> ScopeMessages(const DeviceInfo& device, const View& view) {
  const Topology& topology = *view.topology();
  std::vector<sideband::v1::Scope> out;
  const auto add = [&](uint16_t vm, uint16_t context) { out.push_back(ScopeMessage(device, topology, vm, context)); };
  if (view.sees_device_row()) add(kHypervisorVm, kNoContext);
  for (const mailbox::VmInfo& vm : topology.catalog().vms) {
    const bool sealed = vm.confidential && view.SeesVm(vm.id);
    if (sealed || view.Events(vm.id, kNoContext) != nullptr) add(vm.id, kNoContext);
  }
  for (const mailbox::ContextInfo& context : topology.catalog().contexts) {
    if (view.Events(context.vm, context.id) != nullptr) add(context.vm, context.id);
  }
  return out;
}

void FillScopeCounters(const DeviceInfo& device, const Topology& topology, const mailbox::Snapshot& data, size_t row,
                       sideband::v1::ScopeCounters& out) {
  const mailbox::BlockHeader& block = data.blocks.at(row);
  FillHeader(device, topology, block, out);
  const auto& events = topology.catalog().events;
  const auto counters = data.Counters(row);
  for (size_t i = 0; i < std::min(counters.size(), events.size()); ++i) {
    if (block.vm != kHypervisorVm && events[i].scope == mailbox::EventScope::kDevice) continue;
    sideband::v1::Counter& counter = *out.add_counters();
    counter.set_event(events[i].name);
    counter.set_count(counters[i]);
  }
}

sideband::v1::Snapshot SnapshotMessage(const VisibleDevice& device, const RowFilter& filter) {
  const DeviceSnapshot& snapshot = *device.snapshot;
  sideband::v1::Snapshot out;
  out.set_device(device.info->name);
  out.set_boot_id(snapshot.data.boot_id);
  out.set_snapshot_id(snapshot.data.snapshot_id);
  out.set_trigger_id(snapshot.data.trigger_id);
  out.set_reference_time_ns(snapshot.data.reference_time_ns);
  SetTime(snapshot.host_time, *out.mutable_host_time());
  SetDuration(snapshot.host_time_error, *out.mutable_host_time_error());
  out.set_device_state(StateOf(device.state));
  SetDuration(device.age, *out.mutable_age());
  const bool is_fresh = device.state == VisibleDevice::State::kFresh;
  const std::vector<Ratio> ratios = ResolveRatios(device.info->ratios, snapshot.topology->catalog());
  for (size_t row = 0; row < snapshot.data.blocks.size(); ++row) {
    const mailbox::BlockHeader& block = snapshot.data.blocks[row];
    const EventSet events = filter.SelectedEvents(*device.view, block.vm, block.context);
    if (std::find(events.begin(), events.end(), true) == events.end()) continue;
    sideband::v1::ScopeCounters& scope = *out.add_scopes();
    FillHeader(*device.info, *snapshot.topology, block, scope);
    const auto rates = is_fresh ? snapshot.Rates(row) : std::span<const double>();
    FillCounters(snapshot, row, events, rates, scope);
    FillRatios(ratios, rates, events, scope);
  }
  return out;
}

}  // namespace sideband::daemon

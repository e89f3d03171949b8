// SPDX-License-Identifier: Apache-2.0
#include "daemon/message/scope_message.h"

#include <algorithm>
#include <string>
#include <utility>

#include "daemon/snapshot/level.h"

namespace sideband::daemon {

using mailbox::kAnySlice;

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

sideband::v1::Event EventMessage(const Topology& topology, size_t index) {
  const mailbox::Catalog& catalog = topology.catalog();
  const mailbox::EventInfo& event = catalog.events[index];
  sideband::v1::Event out;
  out.set_name(event.name);
  out.set_unit(event.unit);
  out.set_scope(event.scope == mailbox::EventScope::kDevice ? sideband::v1::Event::SCOPE_DEVICE
                                                            : sideband::v1::Event::SCOPE_CONTEXT);
  out.set_description(event.description);
  out.set_masked(event.masked);
  if (topology.coverage().IsGated(index)) out.set_gate_group(catalog.gate_groups[event.details.gate_group].name);
  return out;
}

sideband::v1::Scope ScopeMessage(const DeviceInfo& device, const Topology& topology, uint16_t vm, uint16_t context) {
  sideband::v1::Scope out;
  out.set_device(device.name);
  if (mailbox::IsHostBlock({.vm = vm, .context = context})) {
    out.set_host(true);
    out.set_slice(context);
    return out;
  }
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

void FillScopeHeader(const DeviceInfo& device, const Topology& topology, const mailbox::BlockHeader& block,
                     sideband::v1::ScopeCounters& out) {
  *out.mutable_scope() = ScopeMessage(device, topology, block.vm, block.context);
  // The block's generation is newer than the catalogue's if a restart came between reading the two.
  out.mutable_scope()->set_generation(block.generation);
  out.set_state(StateMessage(block.state));
  for (std::string& flag : mailbox::FlagNames(block.flags)) out.add_flags(std::move(flag));
}

void FillCounter(const Topology& topology, size_t event, uint64_t count, double coverage, sideband::v1::Counter& out) {
  out.set_event(topology.catalog().events[event].name);
  out.set_count(count);
  if (topology.coverage().IsGated(event)) out.set_coverage(coverage);
}

void FillScopeCounters(const DeviceInfo& device, const Topology& topology, const mailbox::Snapshot& data, size_t row,
                       Uncounted uncounted, sideband::v1::ScopeCounters& out) {
  const Coverage& coverage = topology.coverage();
  const auto counters = data.Counters(row);
  mailbox::BlockHeader block = data.blocks.at(row);
  if (!coverage.IsWhole(counters)) block.flags |= mailbox::kFlagPartial;
  FillScopeHeader(device, topology, block, out);
  const auto& events = topology.catalog().events;
  for (size_t i = 0; i < std::min(counters.size(), events.size()); ++i) {
    // The count of a device-scope event is unknown for a VM.
    const bool is_foreign = LevelOf(block) != Level::kDevice && events[i].scope == mailbox::EventScope::kDevice;
    if (is_foreign || events[i].masked) continue;
    const double covered = coverage.OfCount(i, counters);
    if (covered == 0 && uncounted == Uncounted::kDropped) continue;
    FillCounter(topology, i, counters[i], covered, *out.add_counters());
  }
}

}  // namespace sideband::daemon

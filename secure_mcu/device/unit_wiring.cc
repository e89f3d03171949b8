// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/unit_wiring.h"

#include <algorithm>
#include <utility>

#include "secure_mcu/device/cycles.h"
#include "secure_mcu/device/tenant_slices.h"
#include "sim/wires/clocked_source.h"

namespace sideband::mcu {
RoundRobinTimeline::RoundRobinTimeline(std::vector<Tenant> tenants, std::vector<std::vector<size_t>> turns, Turn turn)
    : tenants_(std::move(tenants)), turn_(turn) {
  for (size_t slice = 0; slice < turns.size(); ++slice) {
    for (const size_t tenant : turns[slice]) slice_of_[tenant] = slice;
    slices_.push_back({.present = std::move(turns[slice]), .resident = {}});
  }
}

// The resident leaves without a successor: a gap follows, or the resident has been removed.
bool RoundRobinTimeline::Leaves(const Slice& slice) const {
  if (!slice.resident) return false;
  return turn_.gap > 0 || std::find(slice.present.begin(), slice.present.end(), *slice.resident) == slice.present.end();
}

// A single tenant without a gap keeps its slice.
bool RoundRobinTimeline::HasSwitch(const Slice& slice) const {
  if (Leaves(slice)) return true;
  return slice.present.size() > (slice.resident ? 1u : 0u);
}

size_t RoundRobinTimeline::NextSlice() const {
  size_t next = slices_.size();
  for (size_t i = 0; i < slices_.size(); ++i) {
    if (!HasSwitch(slices_[i])) continue;
    if (next == slices_.size() || slices_[i].cycle < slices_[next].cycle) next = i;
  }
  return next;
}

std::optional<SwitchEvent> RoundRobinTimeline::Peek() const {
  const size_t next = NextSlice();
  if (next == slices_.size()) return std::nullopt;
  const Slice& slice = slices_[next];
  SwitchEvent event{.cycle = slice.cycle, .slice = static_cast<uint8_t>(next), .tenant = {}};
  if (!Leaves(slice)) event.tenant = slice.present[slice.next];
  return event;
}

void RoundRobinTimeline::Pop() {
  const size_t next = NextSlice();
  if (next == slices_.size()) return;
  Slice& slice = slices_[next];
  if (Leaves(slice)) {
    slice.resident = std::nullopt;
    slice.cycle += turn_.gap;
    return;
  }
  slice.resident = slice.present[slice.next];
  slice.next = (slice.next + 1) % slice.present.size();
  slice.cycle += turn_.quantum;
}

void RoundRobinTimeline::Remove(size_t tenant, uint64_t cycle) {
  Slice& slice = slices_[slice_of_.at(tenant)];
  const auto found = std::find(slice.present.begin(), slice.present.end(), tenant);
  if (found == slice.present.end()) return;
  const auto index = static_cast<size_t>(found - slice.present.begin());
  slice.present.erase(found);
  // The next turn stays that of the same tenant.
  if (index < slice.next) --slice.next;
  if (slice.next >= slice.present.size()) slice.next = 0;
  // A resident leaves at once.
  if (slice.resident == tenant) slice.cycle = cycle;
}

void RoundRobinTimeline::Add(size_t tenant, uint64_t cycle) {
  Slice& slice = slices_[slice_of_.at(tenant)];
  slice.present.push_back(tenant);
  // A single tenant has stayed beyond its turn, so the new tenant is next.
  if (slice.resident && slice.present.size() == 2) slice.next = 1;
  slice.cycle = std::max(slice.cycle, cycle);
}

namespace {

// Per slice, its contexts as indices into the tenants.
std::vector<std::vector<size_t>> Turns(const ChipFile& file) {
  std::vector<std::vector<size_t>> turns(file.pipeline.slices);
  size_t tenant = 0;
  for (const VmFileSpec& vm : file.vms) {
    ++tenant;  // the VM without a context takes no turns
    for (const ContextFileSpec& context : vm.contexts) turns[context.slice].push_back(tenant++);
  }
  return turns;
}

RoundRobinTimeline::Turn TurnOf(const ChipFile& file) {
  const uint64_t clock_hz = file.pipeline.clock_hz;
  return {.quantum = CyclesAtLeastOne(file.quantum, clock_hz),
          .gap = file.gap == absl::ZeroDuration() ? 0 : CyclesAtLeastOne(file.gap, clock_hz)};
}

HostPlan HostPlanOf(const ChipFile& file) {
  if (!file.host) return {};
  const uint64_t clock_hz = file.pipeline.clock_hz;
  const uint64_t every = std::max<uint64_t>(2, CyclesAtLeastOne(file.host->exit_every, clock_hz));
  return {.every = every, .time = std::min(every - 1, CyclesAtLeastOne(file.host->exit_time, clock_hz))};
}

}  // namespace

Wiring WireUnits(const ChipFile& file, UnitPlan plan, std::vector<std::shared_ptr<sim::WireSource>> slices,
                 std::shared_ptr<sim::WireSource> device) {
  Wiring wiring;
  for (auto& slice : slices) wiring.slices.push_back(std::make_shared<sim::ClockedSource>(std::move(slice)));
  wiring.device = std::move(device);
  wiring.events = std::move(plan.events);
  wiring.ccus = std::move(plan.ccus);
  wiring.host = HostPlanOf(file);
  wiring.tenant_slices = SlicesOfContexts(file);
  wiring.make_timeline = [turns = Turns(file), turn = TurnOf(file)](std::vector<Tenant> tenants) {
    return std::make_unique<RoundRobinTimeline>(std::move(tenants), turns, turn);
  };
  return wiring;
}

}  // namespace sideband::mcu

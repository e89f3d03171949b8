// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/unit_wiring.h"

#include <algorithm>
#include <utility>

#include "secure_mcu/device/cycles.h"
#include "secure_mcu/device/round_robin_timeline.h"
#include "secure_mcu/device/tenant_slices.h"
#include "sim/wires/clocked_source.h"

namespace sideband::mcu {
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

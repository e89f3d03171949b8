// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/device/cycles.h"
#include "secure_mcu/device/round_robin_timeline.h"
#include "secure_mcu/device/tenant_slices.h"
#include "secure_mcu/device/wiring.h"
#include "sim/wires/clocked_source.h"
#include "sim/workload/steady_workload.h"
#include "sim/workload/synthetic_slice.h"
#include "sim/workload/workload.h"

namespace sideband::mcu {
namespace {

// Rounds durations below a cycle up to 1.
uint64_t Cycles(absl::Duration duration, uint64_t clock_hz) {
  return std::max<uint64_t>(1, CyclesOf(duration, clock_hz));
}

absl::StatusOr<sim::Workload> MakeWorkload(const ChipFile& file, const WorkloadFileSpec& spec,
                                           const std::vector<std::string>& wire_events) {
  sim::Workload::Options options{.seed = spec.seed, .wire_events = wire_events};
  for (const PhaseFileSpec& phase : spec.phases) {
    options.phases.push_back({phase.kind, Cycles(phase.time, file.pipeline.clock_hz)});
  }
  auto workload = sim::Workload::Create(options);
  if (!workload.ok()) return AtLine(workload.status(), file.path, spec.line);
  return workload;
}

absl::StatusOr<std::shared_ptr<sim::WireSource>> MakeSlice(const ChipFile& file, uint8_t slice, const UnitPlan& plan) {
  const std::vector<std::string> wire_events = plan.WireEvents(slice);
  auto source = std::make_shared<sim::SyntheticSlice>();
  for (const VmFileSpec& vm : file.vms) {
    for (const ContextFileSpec& context : vm.contexts) {
      if (context.slice != slice) continue;
      SIDEBAND_ASSIGN_OR_RETURN(sim::Workload workload, MakeWorkload(file, *context.workload, wire_events));
      SIDEBAND_RETURN_IF_ERROR(
          AtLine(source->Add(vm.name, context.name, std::move(workload)), file.path, context.line));
    }
  }
  return source;
}

absl::StatusOr<std::shared_ptr<sim::WireSource>> MakeDevice(const ChipFile& file, const UnitPlan& plan) {
  if (!file.device_workload) return std::make_shared<sim::SyntheticSlice>();  // never counted without units
  SIDEBAND_ASSIGN_OR_RETURN(sim::Workload workload,
                            MakeWorkload(file, *file.device_workload, plan.WireEvents(file.pipeline.slices)));
  return std::make_shared<sim::SteadyWorkload>(std::move(workload));
}

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

}  // namespace

absl::StatusOr<Wiring> MakeSyntheticWiring(const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(UnitPlan plan, PlanUnits(file));
  Wiring wiring;
  for (uint32_t slice = 0; slice < file.pipeline.slices; ++slice) {
    SIDEBAND_ASSIGN_OR_RETURN(auto source, MakeSlice(file, static_cast<uint8_t>(slice), plan));
    wiring.slices.push_back(std::make_shared<sim::ClockedSource>(std::move(source)));
  }
  SIDEBAND_ASSIGN_OR_RETURN(wiring.device, MakeDevice(file, plan));
  wiring.events = std::move(plan.events);
  wiring.ccus = std::move(plan.ccus);
  wiring.tenant_slices = SlicesOfContexts(file);
  const uint64_t clock_hz = file.pipeline.clock_hz;
  const RoundRobinTimeline::Turn turn{.quantum = Cycles(file.quantum, clock_hz),
                                      .gap = file.gap == absl::ZeroDuration() ? 0 : Cycles(file.gap, clock_hz)};
  wiring.make_timeline = [turns = Turns(file), turn](std::vector<Tenant> tenants) {
    return std::make_unique<RoundRobinTimeline>(std::move(tenants), turns, turn);
  };
  return wiring;
}

}  // namespace sideband::mcu

// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/domain_rules.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/device/cycles.h"
#include "secure_mcu/device/unit_wiring.h"
#include "secure_mcu/device/wiring.h"
#include "sim/workload/steady_workload.h"
#include "sim/workload/synthetic_slice.h"
#include "sim/workload/workload.h"

namespace sideband::mcu {
namespace {

sim::BurstLengths ToCycles(const BurstTimes& times, uint64_t clock_hz) {
  return {CyclesAtLeastOne(times.low, clock_hz), CyclesAtLeastOne(times.high, clock_hz)};
}

absl::StatusOr<sim::Workload> MakeWorkload(const ChipFile& file, const WorkloadFileSpec& spec,
                                           const std::vector<std::string>& wire_events) {
  sim::Workload::Options options{
      .phases = {}, .seed = spec.seed, .wire_events = wire_events, .vary_per_mille = spec.vary_per_mille};
  const uint64_t clock_hz = file.pipeline.clock_hz;
  for (const PhaseFileSpec& phase : spec.phases) {
    options.phases.push_back({phase.kind, CyclesAtLeastOne(phase.time, clock_hz)});
    if (!phase.bursts) continue;
    options.phases.back().bursts = {ToCycles(phase.bursts->on, clock_hz), ToCycles(phase.bursts->off, clock_hz)};
  }
  auto workload = sim::Workload::Create(options);
  if (!workload.ok()) return AtLine(workload.status(), file.path, spec.line);
  return workload;
}

absl::StatusOr<std::shared_ptr<sim::SyntheticSlice>> MakeSlice(const ChipFile& file, uint8_t slice,
                                                               const UnitPlan& plan) {
  const std::vector<std::string> wire_events = plan.WireEvents(slice);
  auto source = std::make_shared<sim::SyntheticSlice>(MakeClocks(file.pipeline, slice));
  for (const VmFileSpec& vm : file.vms) {
    for (const ContextFileSpec& context : vm.contexts) {
      if (context.slice != slice) continue;
      SIDEBAND_ASSIGN_OR_RETURN(sim::Workload workload, MakeWorkload(file, *context.workload, wire_events));
      SIDEBAND_RETURN_IF_ERROR(
          AtLine(source->Add(vm.name, context.name, std::move(workload)), file.path, context.line));
    }
  }
  if (file.host) {
    SIDEBAND_ASSIGN_OR_RETURN(sim::Workload workload, MakeWorkload(file, file.host->workload, wire_events));
    SIDEBAND_RETURN_IF_ERROR(source->SetHost(std::move(workload)));
    if (file.has_host_blocks()) source->LetHostRunAlone();
  }
  return source;
}

// Null without units of the device.
absl::StatusOr<std::shared_ptr<sim::SteadyWorkload>> MakeDevice(const ChipFile& file, const UnitPlan& plan) {
  if (!file.device_workload) return nullptr;
  SIDEBAND_ASSIGN_OR_RETURN(sim::Workload workload,
                            MakeWorkload(file, *file.device_workload, plan.WireEvents(file.pipeline.slices)));
  return std::make_shared<sim::SteadyWorkload>(std::move(workload), MakeClocks(file.pipeline, kDeviceChannel));
}

}  // namespace

absl::StatusOr<Wiring> MakeSyntheticWiring(const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(UnitPlan plan, PlanUnits(file));
  std::vector<std::shared_ptr<sim::SyntheticSlice>> slices;
  for (uint32_t slice = 0; slice < file.pipeline.slices; ++slice) {
    SIDEBAND_ASSIGN_OR_RETURN(slices.emplace_back(), MakeSlice(file, static_cast<uint8_t>(slice), plan));
  }
  SIDEBAND_ASSIGN_OR_RETURN(auto device, MakeDevice(file, plan));
  const std::shared_ptr<sim::WireSource> never_counted = std::make_shared<sim::SyntheticSlice>();
  Wiring wiring =
      WireUnits(file, std::move(plan), {slices.begin(), slices.end()}, device == nullptr ? never_counted : device);
  wiring.step_clock = [slices, device](uint32_t domain, sim::Instant at, uint64_t hz) {
    for (const auto& slice : slices) slice->StepClock(domain, at, hz);
    if (device != nullptr) device->StepClock(domain, at, hz);
  };
  return wiring;
}

}  // namespace sideband::mcu

// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/serve/round_robin_timeline.h"
#include "secure_mcu/serve/wiring.h"
#include "sim/workload/steady_workload.h"
#include "sim/workload/synthetic_slice.h"
#include "sim/workload/workload.h"

namespace sideband::mcu {
namespace {

// Cycles of `duration`, at least 1.
uint64_t Cycles(absl::Duration duration, uint64_t clock_hz) {
  const double cycles = absl::ToDoubleSeconds(duration) * static_cast<double>(clock_hz);
  return std::max<uint64_t>(1, static_cast<uint64_t>(cycles));
}

// The units of one channel: a unit-level counter per instance and a wire per event of each.
class ChannelBuilder {
 public:
  ChannelBuilder(std::string name, uint8_t channel, const UlcSpec& like)
      : name_(std::move(name)), channel_(channel), like_(like) {}

  absl::Status Add(const UnitFileSpec& unit, EventTable& events) {
    const auto scope = channel_ == kDeviceChannel ? mailbox::EventScope::kDevice : mailbox::EventScope::kContext;
    for (uint32_t instance = 0; instance < unit.count; ++instance) {
      UlcSpec ulc = like_;
      ulc.name = absl::StrCat(unit.name, instance);
      for (const std::string& event : unit.events) {
        SIDEBAND_ASSIGN_OR_RETURN(const uint16_t counter, events.Add(event, scope));
        ulc.inputs.push_back({.wire = static_cast<sim::WireId>(wire_events_.size()), .meaning = {counter, 0}});
        wire_events_.push_back(event);
      }
      AddUlc(std::move(ulc));
    }
    return absl::OkStatus();
  }

  std::vector<CcuSpec> TakeCcus() { return std::move(ccus_); }
  // Per wire the event that it carries.
  const std::vector<std::string>& wire_events() const { return wire_events_; }

 private:
  void AddUlc(UlcSpec ulc) {
    if (ccus_.empty() || ccus_.back().ulcs.size() == kCcuUlcsMax) {
      ccus_.push_back({.name = absl::StrCat(name_, ".ccu", ccus_.size()), .channel = channel_});
    }
    ccus_.back().ulcs.push_back(std::move(ulc));
  }

  const std::string name_;
  const uint8_t channel_;
  const UlcSpec like_;
  std::vector<CcuSpec> ccus_;
  std::vector<std::string> wire_events_;
};

absl::StatusOr<sim::Workload> MakeWorkload(const WorkloadFileSpec& spec, const std::vector<std::string>& wire_events,
                                           uint64_t clock_hz) {
  sim::Workload::Options options{.seed = spec.seed, .wire_events = wire_events};
  for (const PhaseFileSpec& phase : spec.phases) options.phases.push_back({phase.kind, Cycles(phase.time, clock_hz)});
  return sim::Workload::Create(options);
}

absl::Status AddSlice(const ChipFile& file, uint8_t slice, Wiring& wiring) {
  ChannelBuilder builder(absl::StrCat("slice", int{slice}), slice, file.ulc);
  for (const UnitFileSpec& unit : file.units) SIDEBAND_RETURN_IF_ERROR(builder.Add(unit, wiring.events));
  auto source = std::make_shared<sim::SyntheticSlice>();
  for (const VmFileSpec& vm : file.vms) {
    for (const ContextFileSpec& context : vm.contexts) {
      if (context.slice != slice) continue;
      SIDEBAND_ASSIGN_OR_RETURN(sim::Workload workload,
                                MakeWorkload(*context.workload, builder.wire_events(), file.pipeline.clock_hz));
      SIDEBAND_RETURN_IF_ERROR(source->Add(vm.name, context.name, std::move(workload)));
    }
  }
  for (CcuSpec& ccu : builder.TakeCcus()) wiring.ccus.push_back(std::move(ccu));
  wiring.slices.push_back(std::move(source));
  return absl::OkStatus();
}

absl::Status AddDevice(const ChipFile& file, Wiring& wiring) {
  wiring.device = std::make_shared<sim::SyntheticSlice>();  // without units it is never asked
  if (!file.device_workload) return absl::OkStatus();
  ChannelBuilder builder("device", kDeviceChannel, file.ulc);
  for (const UnitFileSpec& unit : file.device_units) SIDEBAND_RETURN_IF_ERROR(builder.Add(unit, wiring.events));
  SIDEBAND_ASSIGN_OR_RETURN(sim::Workload workload,
                            MakeWorkload(*file.device_workload, builder.wire_events(), file.pipeline.clock_hz));
  wiring.device = std::make_shared<sim::SteadyWorkload>(std::move(workload));
  for (CcuSpec& ccu : builder.TakeCcus()) wiring.ccus.push_back(std::move(ccu));
  return absl::OkStatus();
}

// Per slice the contexts that live there, as indices into the tenants.
std::vector<std::vector<size_t>> Turns(const ChipFile& file) {
  std::vector<std::vector<size_t>> turns(file.pipeline.slices);
  size_t tenant = 0;
  for (const VmFileSpec& vm : file.vms) {
    ++tenant;  // the VM without a context
    for (const ContextFileSpec& context : vm.contexts) turns[context.slice].push_back(tenant++);
  }
  return turns;
}

}  // namespace

absl::StatusOr<Wiring> MakeSyntheticWiring(const ChipFile& file) {
  Wiring wiring;
  for (uint32_t slice = 0; slice < file.pipeline.slices; ++slice) {
    SIDEBAND_RETURN_IF_ERROR(AtLine(AddSlice(file, static_cast<uint8_t>(slice), wiring), file.path, 0));
  }
  SIDEBAND_RETURN_IF_ERROR(AtLine(AddDevice(file, wiring), file.path, 0));
  const uint64_t clock_hz = file.pipeline.clock_hz;
  const RoundRobinTimeline::Turn turn{.quantum = Cycles(file.quantum, clock_hz),
                                      .gap = file.gap == absl::ZeroDuration() ? 0 : Cycles(file.gap, clock_hz)};
  wiring.make_timeline = [turns = Turns(file), turn](std::vector<Tenant> tenants) {
    return std::make_unique<RoundRobinTimeline>(std::move(tenants), turns, turn);
  };
  return wiring;
}

}  // namespace sideband::mcu

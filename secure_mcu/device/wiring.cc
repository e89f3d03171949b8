// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/wiring.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip_clocks.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/event_table.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/device/event_plan.h"
#include "sim/waveform/looped_trace.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/tag_filters.h"
#include "sim/waveform/trace_reader.h"
#include "sim/wires/clocked_source.h"
#include "sim/wires/packed_wires.h"
#include "sim/workload/synthetic_slice.h"
#include "sim/workload/workload.h"

namespace sideband::mcu {
namespace {

HpcRegister RegisterOf(uint16_t csr) {
  if (csr == riscv::kHpcc) return HpcRegister::kHpcc;
  return csr == riscv::kHpcm ? HpcRegister::kHpcm : HpcRegister::kHpcr;
}

HpcPrivilege PrivilegeOf(riscv::Privilege level) {
  return level == riscv::Privilege::kUser ? HpcPrivilege::kUser : HpcPrivilege::kSupervisor;
}

constexpr SliceSet Only(uint32_t slice) { return SliceSet{1} << slice; }

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

// The catalogue is made from the chip file, so every VM and context of the schedule must be in that file.
absl::Status CheckResidency(const ChipFile& file, const sim::Residency& residency) {
  const auto error = [&](absl::string_view what) {
    return LineError(file.waveform->schedule, residency.line, absl::StrCat(what, " not in ", file.path));
  };
  if (residency.slice >= file.pipeline.slices) return error(absl::StrCat("slice ", residency.slice, " is"));
  const auto vm = std::find_if(file.vms.begin(), file.vms.end(), [&](const auto& v) { return v.name == residency.vm; });
  if (vm == file.vms.end()) return error(absl::StrCat("VM '", residency.vm, "' is"));
  const bool known =
      residency.context.empty() || std::any_of(vm->contexts.begin(), vm->contexts.end(),
                                               [&](const auto& context) { return context.name == residency.context; });
  return known ? absl::OkStatus() : error(absl::StrCat("context '", residency.context, "' is"));
}

// The units of a signal map have the shape that the chip file defines.
absl::Status ApplyShape(const ChipFile& file, std::vector<CcuSpec>& ccus) {
  for (CcuSpec& ccu : ccus) {
    ccu.threshold = file.threshold;
    SIDEBAND_RETURN_IF_ERROR(AtLine(CheckThresholdPace(ccu, file.pipeline.clock_hz), file.path, file.pipeline_line));
    for (UlcSpec& ulc : ccu.ulcs) {
      ulc.counter_bits = file.ulc.counter_bits;
      ulc.period = file.ulc.period;
      ulc.lanes = file.ulc.lanes;
      const absl::Status status = UnitLevelCounter::Validate(CounterConfig(ulc));
      if (!status.ok()) {
        return LineError(file.path, file.pipeline_line, absl::StrCat("unit '", ulc.name, "': ", status.message()));
      }
    }
  }
  return absl::OkStatus();
}

// Late requests of these would be in the device's block, as unattributed ones.
std::set<std::string> PrivateVms(const ChipFile& file) {
  std::set<std::string> names;
  for (const VmFileSpec& vm : file.vms) {
    if (vm.counting.is_private) names.insert(vm.name);
  }
  return names;
}

}  // namespace

std::optional<uint64_t> HpcCsrPort::Read(uint16_t csr, riscv::Privilege /*level*/, uint64_t cycle) {
  return chip_->live().hpc().Read(slice_, RegisterOf(csr), cycle);
}

bool HpcCsrPort::Write(uint16_t csr, uint64_t value, riscv::Privilege level, uint64_t /*cycle*/) {
  return chip_->guests().WriteHpc(slice_, RegisterOf(csr), value, PrivilegeOf(level));
}

absl::StatusOr<std::shared_ptr<SliceProgram>> SliceProgram::Create(uint8_t slice, const ProgramFileSpec& spec,
                                                                   const riscv::Program& program) {
  auto port = std::make_unique<HpcCsrPort>(slice);
  const riscv::CoreProgram of_core{
      .words = program.words, .argument = spec.argument, .is_user = spec.is_user, .port = port.get()};
  const std::vector<riscv::CoreProgram> cores(spec.shape.cores, of_core);
  SIDEBAND_ASSIGN_OR_RETURN(auto machine, riscv::Machine::Create(spec.shape, cores));
  return std::shared_ptr<SliceProgram>(new SliceProgram(std::move(port), std::move(machine)));
}

SliceProgram::SliceProgram(std::unique_ptr<HpcCsrPort> port, std::unique_ptr<riscv::Machine> machine)
    : port_(std::move(port)), source_(std::make_shared<riscv::ProgramSource>(std::move(machine))) {}

SlicePrograms::SlicePrograms(std::vector<std::shared_ptr<SliceProgram>> programs, Chip& chip)
    : programs_(std::move(programs)), chip_(chip) {
  for (const auto& program : programs_) program->Connect(chip_);
}

// A machine stops before each access, and goes on once the chip, hence every other machine, has come to the same cycle.
void SlicePrograms::AdvanceTo(uint64_t cycle, const std::function<void(uint64_t)>& play) const {
  do {
    uint64_t reached = cycle;
    for (const auto& program : programs_) {
      riscv::ProgramSource& source = *program->source();
      if (source.now() <= chip_.now()) source.AdvanceToAccess(cycle);
      reached = std::min(reached, source.now());
    }
    play(reached);
  } while (chip_.now() < cycle);
}

absl::StatusOr<Wiring> MakeWiring(const ChipFile& file) {
  if (file.waveform) return MakeWaveformWiring(file);
  return file.programs.empty() ? MakeSyntheticWiring(file) : MakeProgramWiring(file);
}

std::vector<SliceSet> SlicesOfContexts(const ChipFile& file) {
  std::vector<SliceSet> slices;
  for (const VmFileSpec& vm : file.vms) {
    const size_t own = slices.size();
    slices.push_back(0);
    for (const ContextFileSpec& context : vm.contexts) {
      slices[own] |= Only(context.slice);
      slices.push_back(Only(context.slice));
    }
  }
  return slices;
}

std::vector<SliceSet> SlicesOfSchedule(const ChipFile& file, const std::vector<sim::Residency>& schedule) {
  std::map<std::pair<std::string, std::string>, SliceSet> by_name;  // an empty context stands for the VM
  for (const sim::Residency& residency : schedule) {
    by_name[{residency.vm, residency.context}] |= Only(residency.slice);
    by_name[{residency.vm, ""}] |= Only(residency.slice);
  }
  std::vector<SliceSet> slices;
  for (const VmFileSpec& vm : file.vms) {
    slices.push_back(by_name[{vm.name, ""}]);
    for (const ContextFileSpec& context : vm.contexts) slices.push_back(by_name[{vm.name, context.name}]);
  }
  return slices;
}

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

// Each turn of a trace makes all context switches of its schedule, whose cost does not depend on their distance.
std::string WarningOfTurns(const std::string& path, uint64_t cycles, size_t residencies, uint64_t clock_hz) {
  constexpr uint64_t kSwitchesPerSecondMax = 20'000;
  const uint64_t turns = clock_hz / cycles;
  if (turns * residencies <= kSwitchesPerSecondMax) return "";
  return absl::StrCat(path, ": its ", cycles, cycles == 1 ? " cycle repeats " : " cycles repeat ", turns,
                      " times a second with ", residencies, residencies == 1 ? " residency" : " residencies",
                      ", which may be too often for this machine: lengthen it or lower clock_hz");
}

absl::StatusOr<Wiring> MakeWaveformWiring(const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const sim::SignalMap map, sim::SignalMap::Load(file.waveform->signals));
  SIDEBAND_ASSIGN_OR_RETURN(auto schedule, sim::LoadSchedule(file.waveform->schedule));
  for (const sim::Residency& residency : schedule) SIDEBAND_RETURN_IF_ERROR(CheckResidency(file, residency));
  for (const sim::EventSpec& event : map.events()) {
    if (event.in_host) return map.Error(event.line, "a device has no exits of a waveform: remove `mode`");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const auto filters, sim::TagFilters::Create(map, schedule, file.waveform->schedule,
                                                                        file.pipeline.slices, PrivateVms(file)));
  SIDEBAND_ASSIGN_OR_RETURN(const auto reader, sim::TraceReader::Open(file.waveform->trace, map, filters));
  SIDEBAND_ASSIGN_OR_RETURN(std::shared_ptr<sim::LoopedTrace> trace, sim::LoopedTrace::Load(*reader));
  SIDEBAND_ASSIGN_OR_RETURN(EventPlan plan, PlanEvents(map, trace->event_wires(), file.pipeline.slices, std::nullopt));

  Wiring wiring;
  for (const PlannedEvent& event : plan.events) {
    const auto added = wiring.events.Add(event.name, event.scope, event.prescaled, /*masked=*/false);
    if (!added.ok()) return AtLine(added.status(), file.waveform->signals, 0);
    if (event.is_shared) wiring.events.DescribeAsShared(*added);
  }
  wiring.ccus = std::move(plan.ccus);
  SIDEBAND_RETURN_IF_ERROR(ApplyShape(file, wiring.ccus));
  if (HasResidentCycles(file)) {
    const absl::Status added = AddResidentCycles(file.pipeline.slices, wiring.events, wiring.ccus);
    SIDEBAND_RETURN_IF_ERROR(AtLine(added, file.waveform->signals, 0));
  }
  wiring.slices.assign(file.pipeline.slices, std::make_shared<sim::ClockedSource>(trace));
  wiring.device = trace;
  wiring.tenant_slices = SlicesOfSchedule(file, schedule);
  wiring.warning = WarningOfTurns(file.waveform->trace, trace->length(), schedule.size(), file.pipeline.clock_hz);
  wiring.make_timeline = [schedule = std::move(schedule), turn = trace->length()](std::vector<Tenant> tenants) {
    return std::make_unique<ScheduleTimeline>(schedule, std::move(tenants), turn);
  };
  return wiring;
}

absl::StatusOr<Wiring> MakeProgramWiring(const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(UnitPlan plan, PlanUnits(file));
  std::vector<std::shared_ptr<SliceProgram>> programs;
  std::vector<std::shared_ptr<sim::WireSource>> slices;
  for (const ProgramFileSpec& spec : file.programs) {
    SIDEBAND_ASSIGN_OR_RETURN(const riscv::Program words, riscv::LoadProgram(spec.hex));
    auto program = SliceProgram::Create(static_cast<uint8_t>(programs.size()), spec, words);
    if (!program.ok()) return AtLine(program.status(), file.path, spec.line);
    slices.push_back((*program)->source());
    programs.push_back(*std::move(program));
  }
  // A chip with programs has no units of the whole device.
  auto device = std::make_shared<sim::PackedWires>(/*wire_count=*/0, /*capacity=*/64);
  Wiring wiring = WireUnits(file, std::move(plan), std::move(slices), std::move(device));
  wiring.programs = std::move(programs);
  return wiring;
}

}  // namespace sideband::mcu

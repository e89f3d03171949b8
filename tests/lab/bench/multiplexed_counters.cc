// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip.h"
#include "sim/riscv/kernels/kernels.h"
#include "sim/riscv/machine.h"
#include "tests/lab/bench/benchmarks.h"

namespace sideband::bench {
namespace {

// The most events that a machine can have: 8 cores with a kernel each, 16 slices of L2.
constexpr riscv::MachineShape kShape{.cores = riscv::MachineShape::kCoresMax,
                                     .memory_bytes = uint64_t{2} << 20,
                                     .l2 = {.bytes = 256 << 10, .ways = 8},
                                     .l2_slices = riscv::MachineShape::kSlicesMax};
constexpr uint64_t kWarmUpCycles = 1'000'000;
constexpr uint64_t kTurnCycles = 500'000;
constexpr uint64_t kMultiplexedTurns = 200;  // of a bracket
constexpr uint64_t kRareBelow = 100;         // events of a bracket; an error of a few would tell nothing
constexpr size_t kMultiplexedCounters = 2;
constexpr size_t kSwitchAccesses = 2 * kMultiplexedCounters;  // each counter is read, and gets its next event
// A request has hpcm, hpcc, and hpcc once before the values.
constexpr size_t kRequestAccesses = 3;

using Counts = std::vector<uint64_t>;  // by event

// --- By registers ---------------------------------------------------------------------------------------------------

// A machine whose events a chip counts: event n is wire n.
class CountedMachine {
 public:
  static absl::StatusOr<std::unique_ptr<CountedMachine>> Create() {
    std::vector<riscv::CoreProgram> programs;
    for (const riscv::Kernel& kernel : riscv::Kernels().first(kShape.cores)) {
      programs.push_back({.words = {kernel.words.begin(), kernel.words.end()}, .argument = ~uint64_t{0}});
    }
    SIDEBAND_ASSIGN_OR_RETURN(auto machine, riscv::Machine::Create(kShape, programs));
    SIDEBAND_ASSIGN_OR_RETURN(auto chip, mcu::Chip::Create(ConfigOf(machine->wires().count())));
    return std::unique_ptr<CountedMachine>(new CountedMachine(std::move(machine), std::move(chip)));
  }

  size_t events() const { return source_.machine().wires().count(); }

  void AdvanceBy(uint64_t cycles) {
    const uint64_t end = source_.now() + cycles;
    while (source_.now() < end) {
      source_.AdvanceTo(end);
      chip_->AdvanceTo(source_.now());
    }
  }

  // The machine's own counts.
  Counts Tallies() const {
    Counts counts(events());
    for (sim::WireId event = 0; event < counts.size(); ++event) counts[event] = source_.machine().tally(event);
    return counts;
  }
  // Whether the resident's registers read the machine's tallies at the cycle of the grant.
  absl::Status CheckRegisters() {
    for (uint8_t extend = 0; size_t{hpc::kCountersPerManager} * extend < events(); ++extend) {
      SIDEBAND_RETURN_IF_ERROR(CheckManager(extend));
    }
    return absl::OkStatus();
  }

 private:
  CountedMachine(std::unique_ptr<riscv::Machine> machine, std::unique_ptr<mcu::Chip> chip)
      : source_(std::move(machine)), chip_(std::move(chip)) {
    const mcu::BlockId vm = chip_->memory().Create(1, mailbox::kNoContext);
    const mcu::BlockId context = chip_->memory().Create(1, 0);
    chip_->guests().vm_control(vm).useren = true;
    chip_->Attach(0, source_);
    chip_->Attach(mcu::kDeviceChannel, source_);
    chip_->SwitchTo(0, mcu::Binding{vm, context});
  }

  static mcu::PipelineConfig ConfigOf(uint32_t events) {
    mcu::PipelineConfig config{.slices = 1, .events = events, .clock_hz = 1'000'000'000};
    config.trigger_period = config.commit_period = config.hypervisor_commit_period = kTurnCycles;
    std::vector<mcu::CounterInput> inputs(events);
    for (uint32_t wire = 0; wire < events; ++wire) {
      inputs[wire] = {.wire = wire, .meaning = {static_cast<uint16_t>(wire), 0}};
    }
    for (mcu::CcuSpec& ccu : mcu::Pack("slice0", 0, inputs, {})) config.ccus.push_back(std::move(ccu));
    return config;
  }

  absl::Status CheckManager(uint8_t extend) {
    const size_t first = size_t{hpc::kCountersPerManager} * extend;
    const size_t count = std::min<size_t>(events() - first, hpc::kCountersPerManager);
    Write(mcu::HpcRegister::kHpcm, ~uint64_t{0} >> (hpc::kCountersPerManager - count));
    Write(mcu::HpcRegister::kHpcc, uint64_t{extend} << hpc::kHpccExtendLsb | hpc::kHpccTrigger);
    AdvanceBy(hpc::kHopCycles);
    const Counts truth = Tallies();
    AdvanceBy(hpc::kHopCycles + count * hpc::kLookupCycles + 1);
    for (size_t event = first; event < first + count; ++event) {
      const uint64_t read = chip_->live().hpc().Read(0, mcu::HpcRegister::kHpcr, chip_->now());
      if (read == truth[event]) continue;
      return absl::InternalError(absl::StrCat("event ", event, " reads ", read, ", not ", truth[event]));
    }
    return absl::OkStatus();
  }
  void Write(mcu::HpcRegister which, uint64_t value) {
    chip_->live().hpc().Write(0, which, value, mcu::HpcPrivilege::kUser, chip_->now());
  }

  riscv::ProgramSource source_;
  std::unique_ptr<mcu::Chip> chip_;
};

// --- Multiplexed ----------------------------------------------------------------------------------------------------

Counts Difference(const Counts& end, const Counts& begin) {
  Counts counts(end.size());
  std::ranges::transform(end, begin, counts.begin(), std::minus<>());
  return counts;
}

// The counts of a bracket, turn by turn.
struct Bracket {
  std::vector<Counts> turns;
  Counts total;
};

Bracket RunBracket(CountedMachine& machine) {
  Bracket bracket;
  const Counts begin = machine.Tallies();
  Counts last = begin;
  for (uint64_t turn = 0; turn < kMultiplexedTurns; ++turn) {
    machine.AdvanceBy(kTurnCycles);
    Counts now = machine.Tallies();
    bracket.turns.push_back(Difference(now, last));
    last = std::move(now);
  }
  bracket.total = Difference(last, begin);
  return bracket;
}

// Events that are not rare, spread over all of them.
std::vector<size_t> Choose(const Bracket& bracket, size_t wanted) {
  std::vector<size_t> frequent, chosen;
  for (size_t event = 0; event < bracket.total.size(); ++event) {
    if (bracket.total[event] >= kRareBelow) frequent.push_back(event);
  }
  for (size_t i = 0; i < wanted && wanted <= frequent.size(); ++i) {
    chosen.push_back(frequent[i * frequent.size() / wanted]);
  }
  return chosen;
}

// The estimate of perf and its like: an event's count while it had a counter, scaled to the whole bracket.
double Estimate(const Bracket& bracket, size_t group, size_t groups, size_t event) {
  uint64_t counted = 0, turns = 0;
  for (size_t turn = group; turn < bracket.turns.size(); turn += groups) {
    counted += bracket.turns[turn][event];
    ++turns;
  }
  return static_cast<double>(counted) * static_cast<double>(kMultiplexedTurns) / static_cast<double>(turns);
}

// The relative errors of the events, ascending. Groups of two are multiplexed.
std::vector<double> Errors(const Bracket& bracket, const std::vector<size_t>& events) {
  const size_t groups = events.size() / kMultiplexedCounters;
  std::vector<double> errors;
  for (size_t i = 0; i < events.size(); ++i) {
    const auto truth = static_cast<double>(bracket.total[events[i]]);
    errors.push_back(std::abs(Estimate(bracket, i / kMultiplexedCounters, groups, events[i]) - truth) / truth);
  }
  std::ranges::sort(errors);
  return errors;
}

size_t RegisterAccesses(size_t events) {
  const size_t managers = (events + hpc::kCountersPerManager - 1) / hpc::kCountersPerManager;
  return 2 * (managers * kRequestAccesses + events);  // before and after
}

absl::StatusOr<Row> RowOfBracket(const Bracket& bracket, size_t events) {
  const std::vector<size_t> chosen = Choose(bracket, events);
  if (chosen.empty()) return absl::InternalError(absl::StrCat("less than ", events, " events are frequent"));
  const std::vector<double> errors = Errors(bracket, chosen);
  return Row{absl::StrFormat("hpc: %u events on 2 multiplexed counters, median error", events),
             100 * errors[errors.size() / 2], "%",
             absl::StrFormat("worst %.1f %%, %u accesses; by registers 0 %%, %u accesses", 100 * errors.back(),
                             kMultiplexedTurns * kSwitchAccesses, RegisterAccesses(events))};
}

}  // namespace

absl::StatusOr<Rows> MeasureMultiplexedCounters() {
  SIDEBAND_ASSIGN_OR_RETURN(const auto machine, CountedMachine::Create());
  machine->AdvanceBy(kWarmUpCycles);
  SIDEBAND_RETURN_IF_ERROR(machine->CheckRegisters());
  const Bracket bracket = RunBracket(*machine);
  SIDEBAND_RETURN_IF_ERROR(machine->CheckRegisters());
  Rows rows;
  for (const size_t events : {16, 32, 64, 128}) {
    SIDEBAND_ASSIGN_OR_RETURN(rows.emplace_back(), RowOfBracket(bracket, events));
  }
  return rows;
}

}  // namespace sideband::bench

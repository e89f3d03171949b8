// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/counting.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/describe.h"
#include "secure_mcu/device/live_device.h"
#include "tests/lab/bench/benchmarks.h"

namespace sideband::bench {
namespace {

constexpr absl::Duration kRun = absl::Milliseconds(100);

// With a group of one event, and a hypervisor that works as a context does.
mcu::ChipFile WithExits(mcu::ChipFile file) {
  file.gate_groups.push_back({.name = "all", .events = {file.units.front().events.front().name}});
  file.pipeline.gate_groups.emplace_back();
  file.host = {.exit_every = absl::Milliseconds(1),
               .exit_time = absl::Microseconds(100),
               .workload = *file.vms.front().contexts.front().workload};
  return file;
}

absl::StatusOr<mcu::Description> DescribeWithAllGroups(mcu::ChipFile file) {
  file.pipeline.gate_groups.resize(mailbox::kGateGroupsMax);
  return mcu::Describe(file);
}

void CountState(const mcu::ChipFile& file, const mcu::Description& description, GateCost& cost) {
  cost.flat_bits = description.flat.registers / file.pipeline.slices * 2;
  cost.pmu_bits = kProcessorPmuRegisters * mcu::kCounterBits * 2;
  cost.gate_bits = mailbox::kGateValueBits * 2;
  cost.replicated_registers = description.replicated();
  cost.pipeline_registers = description.registers.total();
  cost.gate_registers = description.gates.total();
}

// The cost of each switch, as the chip counts it.
class SwitchCosts {
 public:
  explicit SwitchCosts(mcu::Chip& chip) : chip_(chip) {
    chip.TraceSwitches([this](const mcu::SwitchStepEvent& event) { Take(event); });
  }
  ~SwitchCosts() { chip_.TraceSwitches(nullptr); }

  uint64_t Median() {
    const auto middle = cycles_.begin() + static_cast<std::ptrdiff_t>(cycles_.size() / 2);
    std::nth_element(cycles_.begin(), middle, cycles_.end());
    return *middle;
  }

 private:
  // A switch is complete in the statistics when the next one begins.
  void Take(const mcu::SwitchStepEvent& event) {
    if (event.step != mcu::SwitchStep::kHalt) return;
    const uint64_t all = chip_.stats().switch_cycles;
    if (event.switch_number > 1) cycles_.push_back(all - counted_);
    counted_ = all;
  }

  mcu::Chip& chip_;
  uint64_t counted_ = 0;
  std::vector<uint64_t> cycles_;
};

absl::Status MeasureCycles(const mcu::ChipFile& file, GateCost& cost) {
  absl::Duration elapsed;
  SIDEBAND_ASSIGN_OR_RETURN(const auto device,
                            mcu::LiveDevice::Create(WithExits(file), /*boot_id=*/1, [&] { return elapsed; }));
  SwitchCosts costs(device->chip());
  elapsed = kRun;
  device->CatchUp();
  const mcu::ChipStats stats = device->chip().stats();
  if (stats.exits == 0 || stats.switches < 2) return absl::InternalError("no exits, or no switches");
  cost.exits = stats.exits;
  cost.switches = stats.switches;
  // There are as many entries as exits, but for the slices that are in one.
  cost.transition_cycles =
      2.0 * static_cast<double>(stats.gate_cycles) / static_cast<double>(stats.exits + stats.entries);
  cost.switch_cycles = costs.Median();
  return absl::OkStatus();
}

Row BitsRow(const char* name, uint64_t bits, uint64_t of_gates) {
  const double times = static_cast<double>(bits) / static_cast<double>(of_gates);
  return {absl::StrCat("virtual: a transition of a slice, ", name), static_cast<double>(bits), "bits",
          absl::StrFormat("%.1f times the gate's", times)};
}

}  // namespace

absl::StatusOr<GateCost> MeasureGateCost(const std::string& chip_file) {
  SIDEBAND_ASSIGN_OR_RETURN(const mcu::ChipFile file, mcu::LoadChipFile(chip_file));
  SIDEBAND_ASSIGN_OR_RETURN(const mcu::Description description, DescribeWithAllGroups(file));
  GateCost cost;
  CountState(file, description, cost);
  SIDEBAND_RETURN_IF_ERROR(MeasureCycles(file, cost));
  return cost;
}

Rows RowsOf(const GateCost& cost) {
  return {BitsRow("flat counters saved and loaded", cost.flat_bits, cost.gate_bits),
          BitsRow("a processor's counters, likewise", cost.pmu_bits, cost.gate_bits),
          BitsRow("the gate's value", cost.gate_bits, cost.gate_bits),
          {"virtual: a flat counter for each wire and VM", static_cast<double>(cost.replicated_registers), "flip-flops",
           absl::StrFormat("the pipeline %d", cost.pipeline_registers)},
          {"virtual: gates of 64 groups, of the pipeline", 100 * cost.registers_ratio(), "%",
           absl::StrFormat("%d flip-flops; limit 0.5", cost.gate_registers)},
          {"virtual: the median context switch, of an exit and an entry", cost.cycles_ratio(), "x",
           absl::StrFormat("%d and %.1f cycles, %d switches, %d exits; at least 20", cost.switch_cycles,
                           cost.transition_cycles, cost.switches, cost.exits)}};
}

}  // namespace sideband::bench

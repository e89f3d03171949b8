// SPDX-License-Identifier: Apache-2.0
// Programs of sim/riscv on a live device. The truth is the machine's own tallies.
#include "secure_mcu/device/slice_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "secure_mcu/device/program_device.h"

namespace sideband::mcu {
namespace {

using riscv::CoreEvent;
using riscv::SliceEvent;

constexpr char kExample[] = "sim/riscv/readers/chip.yaml";
constexpr uint64_t kProgramCyclesMax = 2'000'000;

// Of threads.S.
uint64_t ThreadsArgument(uint64_t time_slice, uint64_t readings, uint64_t module = 0) {
  return time_slice | readings << 32 | module << 48;
}

std::string Cost(uint64_t way, uint64_t words) {
  return absl::StrCat("program: {hex: ", ReaderHex("cost"), ", level: machine, cores: 6, argument: ", way | words << 8,
                      "}\n", kOneContext);
}

// What a program has read or written, by its machine's tallies.
struct DataAccesses {
  uint64_t reads, writes, misses;
};

DataAccesses RunCost(uint64_t way, uint64_t words) {
  ProgramDevice device(Cost(way, words));
  while (!device.machine(0).halted() && device.now() < kProgramCyclesMax) device.AdvanceTo(device.now() + 1000);
  const riscv::Machine& machine = device.machine(0);
  EXPECT_TRUE(machine.halted());
  EXPECT_EQ(machine.core(0).halt()->reason, riscv::Halt::Reason::kExited);
  EXPECT_EQ(machine.core(0).halt()->value, 0u) << "values are missing";
  return {machine.Sum(CoreEvent::kL1dRead), machine.Sum(CoreEvent::kL1dWrite),
          machine.Sum(CoreEvent::kL1dReadMiss) + machine.Sum(CoreEvent::kL1dWriteMiss)};
}

TEST(SliceProgramTest, ReadingByRegistersAddsNoAccessToTheL1dAndAPageAddsOnePerWord) {
  const DataAccesses nothing = RunCost(0, 0);
  for (const uint64_t words : {1, 8, 33, 64}) {
    const DataAccesses by_registers = RunCost(1, words);
    EXPECT_EQ(by_registers.reads, nothing.reads);
    EXPECT_EQ(by_registers.writes, nothing.writes);
    EXPECT_EQ(by_registers.misses, nothing.misses);
    const DataAccesses by_loads = RunCost(2, words);
    EXPECT_EQ(by_loads.reads, nothing.reads + words);
    EXPECT_EQ(by_loads.writes, nothing.writes);
    EXPECT_EQ(by_loads.misses, nothing.misses + (words + 7) / 8) << "a miss for each line of 64 bytes";
  }
}

// Every counter of the context is the machine's tally of its wire.
TEST(SliceProgramTest, TheEventsOfTheMachineAreThoseOfTheChip) {
  ProgramDevice device(Cost(1, 64));
  device.AdvanceTo(1234);
  const riscv::Machine& machine = device.machine(0);
  const mailbox::Snapshot snapshot = device.live().Latch();
  const auto& events = device.live().catalog().events;
  ASSERT_EQ(events.size(), machine.wires().count() + 1) << "and resident_cycles";
  EXPECT_EQ(events[0].name, "core0_cycles");
  EXPECT_EQ(events[0].unit, "cycles");
  EXPECT_EQ(events[5].name, "core0_l1d_readmiss");
  EXPECT_EQ(events[machine.wires().slice(1)].name, "slice1_l2_read");
  for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
    for (sim::WireId wire = 0; wire < machine.wires().count(); ++wire) {
      EXPECT_EQ(snapshot.Counters(block)[wire], machine.tally(wire)) << block << " " << events[wire].name;
    }
  }
  EXPECT_GT(machine.Sum(SliceEvent::kRead), 0u);
}

// What each VM has counted is the tally of the machine on its slice.
TEST(SliceProgramTest, TheExampleRuns) {
  const auto file = LoadChipFile(kExample);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto device = LiveDevice::Create(*file, /*boot_id=*/42, [] { return absl::Milliseconds(50); });
  ASSERT_TRUE(device.ok()) << device.status();
  (*device)->CatchUp();
  for (uint16_t vm : {1, 2}) {
    const riscv::Machine& machine = (*device)->programs()[vm - 1u]->machine();
    EXPECT_FALSE(machine.halted());
    const auto block = (*device)->PeekBlock(vm, /*context=*/0);
    ASSERT_TRUE(block.has_value());
    const auto& events = (*device)->catalog().events;
    for (const SliceEvent event : {SliceEvent::kRead, SliceEvent::kWrite}) {
      uint64_t sum = 0;
      for (size_t i = 0; i < events.size(); ++i) {
        if (absl::EndsWith(events[i].name, NameOf(event))) sum += block->counters[i];
      }
      EXPECT_GT(sum, 100u);
      // A peek is of a cycle before the present one.
      EXPECT_LE(machine.Sum(event) - sum, 4u);
    }
  }
}

// Two slices whose programs read all the time, contexts of two VMs by turns, and a context that ends.
std::string Busy() {
  const std::string hex = ReaderHex("threads");
  return absl::StrCat("slices: 2\nprogram:\n  - {hex: ", hex, ", level: machine, argument: ", ThreadsArgument(90, 60),
                      "}\n  - {hex: ", hex, ", level: machine, cores: 2, argument: ", ThreadsArgument(300, 60, 1),
                      "}\n",
                      R"(pipeline: {trigger_period: 3000, commit_period: 10000}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts: [{name: a, slice: 0}, {name: b, slice: 1}]
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    contexts: [{name: a, slice: 0, lifetime: 20ms, restart: false}, {name: b, slice: 1}]
quantum: 1700us
gap: 130us
)");
}

struct Outcome {
  std::vector<uint64_t> counters;
  std::vector<uint64_t> readings;
};

template <typename Step>
Outcome RunBusy(Step step) {
  constexpr uint64_t kEnd = 60'000;
  ProgramDevice device(Busy());
  while (device.now() < kEnd) device.AdvanceTo(std::min(kEnd, device.now() + step()));
  Outcome outcome;
  const mailbox::Snapshot snapshot = device.live().Latch();
  outcome.counters.assign(snapshot.counters.begin(), snapshot.counters.end());
  for (size_t slice = 0; slice < 2; ++slice) {
    for (uint64_t address = 0x7f000; address < 0xa0000; address += 8) {
      outcome.readings.push_back(*device.machine(slice).memory(0).Load<uint64_t>(address));
    }
  }
  return outcome;
}

TEST(SliceProgramTest, BlocksAndReadingsDoNotDependOnTheStepsOfTheDevice) {
  const Outcome whole = RunBusy([] { return uint64_t{60'000}; });
  EXPECT_GT(*std::max_element(whole.readings.begin(), whole.readings.end()), 0u);
  uint64_t state = 1;
  const auto random = [&state] {
    state = state * 6364136223846793005 + 1442695040888963407;
    return 1 + (state >> 33) % 3000;
  };
  for (const Outcome& other : {RunBusy([] { return uint64_t{1}; }), RunBusy([] { return uint64_t{997}; }),
                               RunBusy([] { return uint64_t{16'384}; }), RunBusy(random)}) {
    EXPECT_EQ(other.counters, whole.counters);
    EXPECT_EQ(other.readings, whole.readings);
  }
}

}  // namespace
}  // namespace sideband::mcu

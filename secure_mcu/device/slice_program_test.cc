// SPDX-License-Identifier: Apache-2.0
//
// Programs of sim/riscv on a live device, and laws R4 to R7 of registers.md, held by programs on cores: two threads
// that a timer switches share one client. The truth is the machine's own tallies, for the laws noted cycle by cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/device/wiring.h"

namespace sideband::mcu {
namespace {

using riscv::CoreEvent;
using riscv::SliceEvent;

// One context, for ever, on slice 0.
constexpr char kOneContext[] = R"(vms:
  - {name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: [{name: a}]}
gap: 0s
)";

std::string ReaderHex(const std::string& name) {
  return std::filesystem::absolute("sim/riscv/readers/" + name + ".hex").string();
}

// A device whose slices run programs of sim/riscv/readers, at 1 MHz: a microsecond is a cycle.
class ProgramDevice {
 public:
  // `chip` is the chip file from `program` on, with `slices` if they are more than one.
  explicit ProgramDevice(const std::string& chip) {
    const std::string path = testing::TempDir() + "program_device.yaml";
    std::ofstream(path) << "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}\n" << chip;
    const auto file = LoadChipFile(path);
    EXPECT_TRUE(file.ok()) << file.status();
    auto device = LiveDevice::Create(*file, /*boot_id=*/42, [this] { return elapsed_; });
    EXPECT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }

  LiveDevice& live() { return *device_; }
  const riscv::Machine& machine(size_t slice) const { return device_->programs()[slice]->machine(); }

  uint64_t now() const { return static_cast<uint64_t>(absl::ToInt64Microseconds(elapsed_)); }
  void AdvanceTo(uint64_t cycle) {
    elapsed_ = absl::Microseconds(static_cast<int64_t>(cycle));
    device_->CatchUp();
  }

 private:
  absl::Duration elapsed_;
  std::unique_ptr<LiveDevice> device_;
};

constexpr char kExample[] = "sim/riscv/readers/chip.yaml";
constexpr uint64_t kProgramCyclesMax = 2'000'000;

// The argument of threads.S.
uint64_t ThreadsArgument(uint64_t time_slice, uint64_t readings, uint64_t module = 0) {
  return time_slice | readings << 32 | module << 48;
}

std::string Cost(uint64_t way, uint64_t words) {
  return absl::StrCat("program: {hex: ", ReaderHex("cost"), ", level: machine, cores: 6, argument: ", way | words << 8,
                      "}\n", kOneContext);
}

// A program's reads and writes, by its machine's tallies.
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

// Each VM has counted the tally of the machine on its slice.
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

// The layout of sim/riscv/readers/threads.S.
constexpr uint64_t kFaultsAddress = 0x7fff8, kReadingsAddress = 0x80000, kThreadBytes = 0x10000, kRecordBytes = 64;
constexpr uint64_t kValues = 1, kUnavailable = 2, kRefused = 3;
constexpr size_t kWires = 10;  // all that the threads read
constexpr std::array<std::array<size_t, 3>, 2> kRead = {{{0, 1, 4}, {2, 6, 9}}};
constexpr uint64_t kReadings = 40;
constexpr uint64_t kReaderCyclesMax = 3'000'000;

struct Reading {
  uint64_t outcome, attempts, stamp;
  std::array<uint64_t, 3> values;
  bool operator==(const Reading&) const = default;
};

struct Options {
  uint64_t time_slice = 1000;
  uint64_t module = 0;
  bool is_patient = false;
};

std::string Threads(const Options& options) {
  const uint64_t argument =
      options.time_slice | kReadings << 32 | options.module << 48 | uint64_t{options.is_patient} << 56;
  return absl::StrCat("{hex: ", ReaderHex("threads"), ", level: machine, argument: ", argument, "}");
}

std::vector<Reading> ReadingsOf(const riscv::Machine& machine, size_t thread) {
  std::vector<Reading> readings;
  for (uint64_t i = 0; i < kReadings; ++i) {
    const uint64_t record = kReadingsAddress + thread * kThreadBytes + i * kRecordBytes;
    const auto word = [&](uint64_t index) { return *machine.memory(0).Load<uint64_t>(record + 8 * index); };
    readings.push_back({word(0), word(1), word(2), {word(3), word(4), word(5)}});
  }
  return readings;
}

// The counts that the context which runs on slice 0 must have, at every cycle.
class Ledger {
 public:
  explicit Ledger(ProgramDevice& device) : device_(device) {}

  // Steps the device until its program has ended.
  void RunToEnd() {
    device_.AdvanceTo(0);
    Note();
    while (!device_.machine(0).halted() && device_.now() < kReaderCyclesMax) {
      device_.AdvanceTo(device_.now() + 1);
      Pass();
      Note();
    }
    const auto& halt = device_.machine(0).core(0).halt();
    ASSERT_TRUE(halt.has_value());
    EXPECT_EQ(halt->value, 0u);
  }
  uint64_t At(uint64_t cycle, size_t wire) const { return at_[cycle][wire]; }
  uint64_t end() const { return at_.size(); }

 private:
  using Counts = std::array<uint64_t, kWires>;

  void Pass() {
    for (size_t wire = 0; wire < kWires; ++wire) {
      const uint64_t tally = device_.machine(0).tally(static_cast<sim::WireId>(wire));
      if (resident_ && resident_->context) blocks_[*resident_->context][wire] += tally - last_[wire];
      last_[wire] = tally;
    }
  }
  // The switch at this cycle has been made.
  void Note() {
    resident_ = device_.live().chip().resident(0);
    at_.push_back(resident_ && resident_->context ? blocks_[*resident_->context] : Counts{});
  }

  ProgramDevice& device_;
  std::optional<Binding> resident_;
  std::map<BlockId, Counts> blocks_;
  Counts last_{};
  std::vector<Counts> at_;
};

struct Tally {
  std::map<uint64_t, int> outcomes;
  int repeated = 0;  // values after more than one attempt
};

// R5, R6: values of the reader's own request, or an error after at most 8 attempts.
void Check(const riscv::Machine& machine, const Ledger& ledger, Tally& tally) {
  for (size_t thread = 0; thread < kRead.size(); ++thread) {
    uint64_t last_stamp = 0;
    for (const Reading& reading : ReadingsOf(machine, thread)) {
      ++tally.outcomes[reading.outcome];
      ASSERT_GE(reading.attempts, 1u);
      ASSERT_LE(reading.attempts, 8u);
      EXPECT_TRUE(reading.outcome != kUnavailable || reading.attempts == 8);
      if (reading.outcome != kValues) continue;
      if (reading.attempts > 1) ++tally.repeated;
      ASSERT_LT(reading.stamp, ledger.end());
      EXPECT_GT(reading.stamp, last_stamp);
      last_stamp = reading.stamp;
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(reading.values[i], ledger.At(reading.stamp, kRead[thread][i])) << thread << " " << reading.stamp;
      }
    }
  }
}

TEST(ReaderLawsTest, EveryReadingIsTheTallyAtItsStampOrAnErrorWhateverTheTimeSlice) {
  std::map<uint64_t, Tally> tallies;
  for (const uint64_t time_slice : {8, 25, 40, 60, 100, 250, 1000, 100'000}) {
    SCOPED_TRACE(time_slice);
    ProgramDevice device(absl::StrCat("program: ", Threads({.time_slice = time_slice}), "\n", kOneContext));
    Ledger ledger(device);
    ledger.RunToEnd();
    Tally& tally = tallies[time_slice];
    Check(device.machine(0), ledger, tally);
    EXPECT_EQ(tally.outcomes[kValues] + tally.outcomes[kUnavailable], static_cast<int>(2 * kReadings));
  }
  EXPECT_EQ(tallies[8].outcomes[kUnavailable], static_cast<int>(2 * kReadings)) << "shorter than a reading";
  EXPECT_EQ(tallies[100'000].outcomes[kValues], static_cast<int>(2 * kReadings));
  EXPECT_GT(tallies[100].repeated, 0);
}

// Turns of three contexts, one of them of a VM whose users may not read, with gaps between them.
std::string Turns(uint64_t quantum, uint64_t time_slice) {
  return absl::StrCat("program: ", Threads({.time_slice = time_slice}), R"(
vms:
  - {name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: [{name: a}, {name: b}]}
  - {name: vm2, uuid: 22222222-0000-4000-8000-000000000002, contexts: [{name: a}]}
gap: 60us
quantum: )",
                      quantum, "us\n");
}

TEST(ReaderLawsTest, ContextSwitchesBetweenAccessesLeaveNoForeignValue) {
  Tally tally;
  uint64_t faults = 0;
  for (const uint64_t quantum : {100, 330, 1500}) {
    for (const uint64_t time_slice : {50, 200, 5000}) {
      SCOPED_TRACE(absl::StrCat(quantum, " ", time_slice));
      ProgramDevice device(Turns(quantum, time_slice));
      Ledger ledger(device);
      ledger.RunToEnd();
      Check(device.machine(0), ledger, tally);
      faults += *device.machine(0).memory(0).Load<uint64_t>(kFaultsAddress);
    }
  }
  EXPECT_GT(tally.repeated, 0);
  EXPECT_GT(tally.outcomes[kValues], 0);
  EXPECT_GT(tally.outcomes[kUnavailable], 0);
  EXPECT_GT(tally.outcomes[kRefused], 0);
  EXPECT_GE(faults, static_cast<uint64_t>(tally.outcomes[kRefused])) << "a user's trigger without useren is a trap";
}

TEST(ReaderLawsTest, APatientReaderHasTheTallyAtItsStampToo) {
  ProgramDevice device(absl::StrCat("program: ", Threads({.time_slice = 300, .is_patient = true}), "\n", kOneContext));
  Ledger ledger(device);
  ledger.RunToEnd();
  Tally tally;
  Check(device.machine(0), ledger, tally);
  EXPECT_GT(tally.outcomes[kValues], static_cast<int>(kReadings));
}

// R7: what runs on slice 0 changes nothing of what slice 1 reads, nor when.
TEST(ReaderLawsTest, AnotherVmsProgramChangesNothingThatAProgramReads) {
  std::vector<std::vector<Reading>> seen;
  for (const uint64_t time_slice : {8, 70, 4000}) {
    ProgramDevice device(absl::StrCat("slices: 2\nprogram:\n  - ", Threads({.time_slice = time_slice}), "\n  - ",
                                      Threads({.time_slice = 150, .module = 1}), R"(
vms:
  - {name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: [{name: a, slice: 0}]}
  - {name: vm2, uuid: 22222222-0000-4000-8000-000000000002, contexts: [{name: a, slice: 1}]}
gap: 0s
)"));
    device.AdvanceTo(100'000);
    EXPECT_TRUE(device.machine(1).halted());
    seen.push_back(ReadingsOf(device.machine(1), 0));
    EXPECT_EQ(seen.back(), seen.front());
  }
  EXPECT_EQ(seen[0][0].outcome, kValues);
}

}  // namespace
}  // namespace sideband::mcu

// SPDX-License-Identifier: Apache-2.0
// Laws R4 to R7 of registers.md, held by programs on cores: two threads that a timer switches share one client. The
// truth is the machine's own tallies, noted cycle by cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "secure_mcu/device/program_device.h"

namespace sideband::mcu {
namespace {

// As in sim/riscv/readers/threads.S.
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

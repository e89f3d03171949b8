// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/program_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/riscv/kernels/kernels.h"
#include "sim/riscv/shape.h"
#include "sim/wires/wire_source.h"

namespace sideband::riscv {
namespace {

constexpr uint64_t kInstructions = 200'000;

std::unique_ptr<Machine> MachineOf(const Kernel& kernel, uint32_t cores) {
  const CoreProgram program{.words = {kernel.words.begin(), kernel.words.end()},
                            .argument = ~uint64_t{0},
                            .instructions_max = kInstructions / cores};
  return Machine::Create({.cores = cores, .l1d = {.bytes = 4096, .ways = 2}}, std::vector<CoreProgram>(cores, program))
      .value();
}

TEST(ProgramSourceTest, WiresAddUpToTheMachinesTallies) {
  for (const uint32_t cores : {1, 2, 4}) {
    for (const Kernel& kernel : Kernels()) {
      ProgramSource source(MachineOf(kernel, cores), /*window_cycles=*/4096);
      std::vector<uint64_t> sums(source.machine().wires().count());
      while (!source.machine().halted()) {
        const uint64_t from = source.now();
        source.Advance();
        source.AddConsecutiveCounts({from, source.now()}, 0, sums);
        for (sim::WireId wire = 0; wire < sums.size(); ++wire) {
          ASSERT_EQ(sums[wire], source.machine().tally(wire))
              << std::string(kernel.name) << " " << source.machine().wires().Name(wire) << " " << source.now();
        }
      }
      EXPECT_EQ(source.machine().Sum(CoreEvent::kInstructions), kInstructions);
    }
  }
}

// What the L1s have missed, and the L2 has not yet read, in every cycle.
class Outstanding {
 public:
  explicit Outstanding(const ProgramSource& source) : source_(source), wires_(source.machine().wires()) {}

  void Pass(uint64_t cycle) {
    const MachineShape& shape = source_.machine().shape();
    for (uint32_t core = 0; core < shape.cores; ++core) {
      for (const CoreEvent miss : {CoreEvent::kL1iReadMiss, CoreEvent::kL1dReadMiss, CoreEvent::kL1dWriteMiss}) {
        reads_ += Bit(wires_.core(core) + Index(miss), cycle);
      }
      writes_ += Bit(wires_.core(core) + Index(CoreEvent::kL1dWriteback), cycle);
    }
    for (uint32_t slice = 0; slice < shape.l2_slices; ++slice) {
      reads_ -= Bit(wires_.slice(slice) + Index(SliceEvent::kRead), cycle);
      writes_ -= Bit(wires_.slice(slice) + Index(SliceEvent::kWrite), cycle);
    }
  }
  int64_t reads() const { return reads_; }
  int64_t writes() const { return writes_; }

 private:
  int64_t Bit(sim::WireId wire, uint64_t cycle) const { return source_.window().Bit(wire, cycle) ? 1 : 0; }

  const ProgramSource& source_;
  const EventWires wires_;
  int64_t reads_ = 0;
  int64_t writes_ = 0;
};

TEST(ProgramSourceTest, InEveryCycleAtMostOneMissOfEachCoreIsOnItsWay) {
  for (const uint32_t cores : {1, 4}) {
    for (const char* name : {"hash", "sort", "stream"}) {
      ProgramSource source(MachineOf(*FindKernel(name), cores));
      Outstanding outstanding(source);
      while (!source.machine().halted()) {
        const uint64_t from = source.now();
        source.Advance();
        for (uint64_t cycle = from; cycle < source.now(); ++cycle) {
          outstanding.Pass(cycle);
          ASSERT_GE(outstanding.reads(), 0) << cycle;
          ASSERT_LE(outstanding.reads(), cores) << cycle;
          ASSERT_GE(outstanding.writes(), 0) << cycle;
          ASSERT_LE(outstanding.writes(), cores) << cycle;
        }
      }
      EXPECT_EQ(outstanding.reads(), 0);
      EXPECT_EQ(outstanding.writes(), 0);
    }
  }
}

TEST(ProgramSourceTest, TheHistoryBeforeAWindowRemainsCountable) {
  ProgramSource source(MachineOf(*FindKernel("sort"), 1), /*window_cycles=*/4096);
  ProgramSource whole(MachineOf(*FindKernel("sort"), 1), /*window_cycles=*/1 << 20);
  whole.AdvanceTo(50'000);
  const sim::WireId wire = Index(CoreEvent::kL1dRead);
  const auto count = [&](const ProgramSource& counted, sim::CycleRange range) {
    uint64_t sum = 0;
    counted.AddCounts(range, {&wire, 1}, {&sum, 1});
    return sum;
  };
  uint64_t steps = 0;
  while (source.now() < 50'000) {
    const uint64_t before = source.now();
    source.AdvanceTo(std::min<uint64_t>(50'000, before + 777 + steps++ % 500));
    ASSERT_GT(source.now(), before);
    const sim::CycleRange range{before - std::min(before, sim::kHistoryCycles), source.now()};
    EXPECT_EQ(count(source, range), count(whole, range)) << before;
  }
}

TEST(ProgramSourceTest, AdvancesAsFarAsTheWindowReaches) {
  ProgramSource source(MachineOf(*FindKernel("crc"), 1), /*window_cycles=*/4096);
  source.AdvanceTo(100);
  EXPECT_EQ(source.now(), 100u);
  source.Advance();
  EXPECT_EQ(source.now(), 4096u);
  source.AdvanceTo(5000);
  EXPECT_EQ(source.now(), 5000u);
  source.AdvanceTo(100'000);
  EXPECT_EQ(source.now(), 8192u);
}

}  // namespace
}  // namespace sideband::riscv

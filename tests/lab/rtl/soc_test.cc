// SPDX-License-Identifier: Apache-2.0
//
// Programs on the RTL's cores: that the cores and caches work, and laws R1, R2, R5 and R6 (registers.md, "Laws") on the
// RTL itself. The truth is the testbench's tallies of the event wires.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/lab/rtl/soc_bench.h"

namespace sideband::rtl {
namespace {

using mcu::HpcPrivilege;

constexpr uint64_t kCyclesMax = 400000;

uint64_t Misses(const CoreCounts& counts) {
  return counts[kL1iReadMiss] + counts[kL1dReadMiss] + counts[kL1dWriteMiss];
}
uint64_t OfSlices(const CoreCounts& counts, SliceEvent event) {
  return counts[OfSlice(0, event)] + counts[OfSlice(1, event)];
}

// A core waits for each miss, so that at most one is on its way to the second level.
void CheckLaws(const CoreCounts& counts, uint64_t outstanding_max) {
  const uint64_t reads = OfSlices(counts, kRead), writes = OfSlices(counts, kWrite);
  ASSERT_LE(reads, Misses(counts));
  ASSERT_LE(Misses(counts), reads + outstanding_max);
  ASSERT_LE(writes, counts[kL1dWriteback]);
  ASSERT_LE(counts[kL1dWriteback], writes + outstanding_max);
  ASSERT_LE(counts[kL1iReadMiss], counts[kL1iRead]);
  ASSERT_LE(counts[kInstructions], counts[kL1iRead]);
}

void StartProgram(SocBench& bench, const std::string& name) {
  const auto words = ReadProgram(name);
  ASSERT_FALSE(words.empty()) << name;
  bench.Load(0, words);
  bench.Start();
}

// Runs core 0 to its end.
void RunToHalt(SocBench& bench) {
  while (!bench.halted(0) && bench.cycle() < kCyclesMax) {
    bench.Step();
    CheckLaws(bench.tallies().cores[0], /*outstanding_max=*/1);
  }
  ASSERT_TRUE(bench.halted(0));
}

void RunProgram(SocBench& bench, const std::string& name) {
  StartProgram(bench, name);
  RunToHalt(bench);
  ASSERT_FALSE(bench.trapped(0)) << name;
  CheckLaws(bench.tallies().cores[0], /*outstanding_max=*/0);
}

TEST(SocTest, EveryInstruction) {
  SocBench bench;
  RunProgram(bench, "isa");
  EXPECT_EQ(bench.Result(0, 0), 57u);
}

TEST(SocTest, KernelsComputeWhatTheyShould) {
  const struct {
    const char* name;
    uint32_t result;
  } kernels[] = {{"sieve", 168}, {"sort", 63}, {"matrix", 21760}};
  for (const auto& [name, result] : kernels) {
    SocBench bench;
    RunProgram(bench, name);
    EXPECT_EQ(bench.Result(0, 0), result) << name;
  }
}

// The counts that the program's text tells.
TEST(SocTest, EventsOfASum) {
  SocBench bench;
  RunProgram(bench, "sum");
  EXPECT_EQ(bench.Result(0, 0), 3u * 255 * 256 / 2);
  const CoreCounts& counts = bench.tallies().cores[0];
  EXPECT_EQ(counts[kL1dWrite], 257u);
  EXPECT_EQ(counts[kL1dRead], 256u);
  EXPECT_EQ(counts[kL1dWriteMiss], 65u);  // the array's lines, and the result's
  EXPECT_EQ(counts[kL1dReadMiss], 64u);
  EXPECT_EQ(counts[kL1dWriteback], 64u);
  EXPECT_EQ(counts[kL1iReadMiss], 6u);  // 23 words of code
  // 7 instructions before the loops, 256 rounds of 5 each, 2 between, and 3 behind.
  EXPECT_EQ(counts[kInstructions], 7u + 256 * 5 + 2 + 256 * 5 + 3);
}

// The reads of one core through the second level evict lines of the other, and each count stays with its cause.
TEST(SocTest, CoresCountTheirOwnRequests) {
  SocBench alone, both;
  RunProgram(alone, "sum");
  both.Load(1, ReadProgram("sort"));
  RunProgram(both, "sum");
  while (!both.halted(1)) both.Step();
  const CoreCounts &before = alone.tallies().cores[0], &beside = both.tallies().cores[0];
  for (size_t event = kInstructions; event < kFirstSlice; ++event) EXPECT_EQ(beside[event], before[event]) << event;
  const Tallies& tallies = both.tallies();
  for (size_t event = 0; event < kSlices * kSliceEvents; ++event) {
    EXPECT_EQ(tallies.device[1 + event], tallies.cores[0][kFirstSlice + event] + tallies.cores[1][kFirstSlice + event]);
  }
}

// R1 and R2: whatever the cores do, the values are the truth of one cycle.
TEST(SocTest, TheFirmwareReadsTheTruth) {
  SocBench bench;
  bench.Load(1, ReadProgram("matrix"));
  StartProgram(bench, "sieve");
  uint64_t readings = 0;
  while (!bench.halted(0) || !bench.halted(1)) {
    for (const uint16_t core : {0, 1}) {
      const auto reading = bench.Read(core, kCoreEvents);
      ASSERT_TRUE(reading);
      const CoreCounts& truth = bench.TalliesAt(reading->stamp).cores[core];
      ASSERT_EQ(reading->values, std::vector<uint64_t>(truth.begin(), truth.end())) << "cycle " << reading->stamp;
    }
    const auto reading = bench.Read(hpc::kModuleDevice, kDeviceEvents);
    ASSERT_TRUE(reading);
    const DeviceCounts& truth = bench.TalliesAt(reading->stamp).device;
    ASSERT_EQ(reading->values, std::vector<uint64_t>(truth.begin(), truth.end()));
    for (uint64_t i = readings++ % 7; i > 0; --i) bench.Step();
  }
  EXPECT_GT(readings, 100u);
  EXPECT_FALSE(bench.Read(kCores, 1)) << "no such module";
  EXPECT_FALSE(bench.Read(0, kCoreEvents + 1)) << "no such event";
}

// The stamp and counters that a program has read and stored at `offset`.
void CheckStored(const SocBench& bench, size_t core, uint32_t offset) {
  const uint64_t stamp = bench.WideResult(core, offset);
  ASSERT_LT(stamp, bench.cycle());
  for (size_t event = 0; event < kCoreEvents; ++event) {
    ASSERT_EQ(bench.WideResult(core, offset + 8 * (1 + event)), bench.TalliesAt(stamp).cores[core][event])
        << "event " << event << " at cycle " << stamp;
  }
}

// The program itself compares misses and reads of the second level.
TEST(SocTest, AProgramReadsItsOwnCounters) {
  for (const HpcPrivilege privilege : {HpcPrivilege::kUser, HpcPrivilege::kSupervisor}) {
    SocBench bench;
    bench.SetPrivilege(0, privilege);
    bench.Switch(0, /*useren=*/true);
    RunProgram(bench, "get");
    CheckStored(bench, 0, 0);
    CheckStored(bench, 0, 0x100);
    EXPECT_LT(bench.WideResult(0, 0), bench.WideResult(0, 0x100));
  }
}

TEST(SocTest, TwoProgramsReadTheirOwnCounters) {
  SocBench bench;
  for (size_t core = 0; core < kCores; ++core) bench.Switch(core, /*useren=*/true);
  bench.Load(1, ReadProgram("get"));
  RunProgram(bench, "get");
  while (!bench.halted(1) && bench.cycle() < kCyclesMax) bench.Step();
  EXPECT_FALSE(bench.trapped(1));
  for (size_t core = 0; core < kCores; ++core) CheckStored(bench, core, 0x100);
}

TEST(SocTest, AUserWithoutTheRightTraps) {
  SocBench bench;
  bench.Switch(0, /*useren=*/false);
  StartProgram(bench, "get");
  RunToHalt(bench);
  EXPECT_TRUE(bench.trapped(0));
  EXPECT_EQ(bench.WideResult(0, 0), 0u);
}

TEST(SocTest, AWriteOfTheResultRegisterTraps) {
  const uint32_t csrw_hpcr_x0 = hpc::kHpcrCsr << 20 | 0x1073;
  SocBench bench;
  bench.Load(0, {&csrw_hpcr_x0, 1});
  bench.Start();
  RunToHalt(bench);
  EXPECT_TRUE(bench.trapped(0));
}

// R5 and R6: with any context switches each reading ends, and the accepted ones are of the program's own last request.
TEST(SocTest, AcceptedReadingsAreRightAcrossSwitches) {
  std::mt19937 random(7);
  uint64_t accepted = 0, retried = 0, given_up = 0;
  for (const uint32_t interval : {2000, 500, 250, 200}) {
    SocBench bench;
    bench.Switch(0, /*useren=*/true);
    StartProgram(bench, "get_shared");
    while (!bench.halted(0) && bench.cycle() < kCyclesMax) {
      if (random() % interval == 0) bench.Switch(0, /*useren=*/true);
      bench.Step();
    }
    ASSERT_TRUE(bench.halted(0) && !bench.trapped(0));
    uint64_t newest = 0;
    for (uint32_t reading = 0; reading < 40; ++reading) {
      const uint32_t offset = 0x100 * reading, failed = bench.Result(0, offset);
      ASSERT_LE(failed, hpc::kAttemptsMax);
      retried += failed > 0;
      given_up += failed == hpc::kAttemptsMax;
      if (failed == hpc::kAttemptsMax) continue;
      ++accepted;
      CheckStored(bench, 0, offset + 8);
      EXPECT_GT(bench.WideResult(0, offset + 8), newest);
      newest = bench.WideResult(0, offset + 8);
    }
  }
  EXPECT_GT(accepted, 40u);
  EXPECT_GT(retried, 10u);
  EXPECT_GT(given_up, 0u);
}

}  // namespace
}  // namespace sideband::rtl

// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/workload.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace sideband::sim {
namespace {

Workload Make(std::vector<PhaseSpec> phases, uint64_t seed = 1,
              std::vector<std::string> events = {"sm_active_cycles", "dram_read_cycles", "made_up"}) {
  auto workload = Workload::Create({std::move(phases), seed, std::move(events)});
  EXPECT_TRUE(workload.ok()) << workload.status();
  return *std::move(workload);
}

TEST(WorkloadTest, ClosedFormEqualsTheSumOfBits) {
  std::mt19937_64 random(7);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<PhaseSpec> phases;
    for (uint64_t i = 0; i <= random() % 5; ++i) {
      phases.push_back({static_cast<PhaseKind>(random() % 5), 1 + random() % 300});
    }
    const Workload workload = Make(phases, seed);
    for (WireId wire = 0; wire < workload.wire_count(); ++wire) {
      uint64_t sum = 0;
      for (uint64_t cycle = 0; cycle < 3 * workload.turn_cycles() + 5; ++cycle) {
        ASSERT_EQ(workload.CumulativeCount(wire, cycle), sum) << "seed " << seed << " cycle " << cycle;
        sum += workload.Bit(wire, cycle) ? 1 : 0;
      }
    }
  }
}

TEST(WorkloadTest, ClosedFormEqualsBitsFarOut) {
  const Workload workload = Make({{PhaseKind::kGemm, uint64_t{1} << 61}, {PhaseKind::kCopy, uint64_t{1} << 61}});
  for (const uint64_t start :
       {(uint64_t{1} << 61) - 500, uint64_t{3} << 60, (uint64_t{1} << 62) - 500, UINT64_MAX - 999}) {
    uint64_t sum = workload.CumulativeCount(0, start);
    for (uint64_t cycle = start; cycle < start + 999; ++cycle) {
      sum += workload.Bit(0, cycle) ? 1 : 0;
      ASSERT_EQ(workload.CumulativeCount(0, cycle + 1), sum) << cycle;
    }
  }
}

TEST(WorkloadTest, AddCountsIsTheDifferenceOfPrefixes) {
  const Workload workload = Make({{PhaseKind::kAttention, 77}, {PhaseKind::kIdle, 5}, {PhaseKind::kCopy, 13}});
  const std::vector<WireId> wires = {2, 0};
  std::vector<uint64_t> sums = {10, 20};
  workload.AddCounts({70, 12345}, wires, sums);
  EXPECT_EQ(sums[0], 10 + workload.CumulativeCount(2, 12345) - workload.CumulativeCount(2, 70));
  EXPECT_EQ(sums[1], 20 + workload.CumulativeCount(0, 12345) - workload.CumulativeCount(0, 70));
}

TEST(WorkloadTest, ConsecutiveWiresCountTheSameAsOneByOne) {
  const std::vector<std::string> events(45, "sm_active_cycles");
  const std::vector<PhaseSpec> kTurns[] = {
      {{PhaseKind::kGemm, 1000}, {PhaseKind::kCopy, 1}, {PhaseKind::kIdle, 7}, {PhaseKind::kAllReduce, 500}},
      {{PhaseKind::kGemm, uint64_t{1} << 33}, {PhaseKind::kCopy, uint64_t{1} << 33}},
  };
  for (const auto& phases : kTurns) {
    const Workload workload = Make(phases, 3, events);
    const uint64_t turn = workload.turn_cycles();
    std::vector<uint64_t> edges = {0, 1, turn, 5 * turn, UINT64_MAX};
    for (const PhaseSpec& phase : phases) edges.push_back(edges.back() / 2 + phase.cycles);
    for (size_t i = 0, size = edges.size(); i < size; ++i) edges.insert(edges.end(), {edges[i] - 1, edges[i] + 1});
    for (const uint64_t begin : edges) {
      for (const uint64_t end : edges) {
        if (end < begin) continue;
        std::vector<uint64_t> sums(45);
        workload.AddConsecutiveCounts(workload.Locate(CycleRange{begin, end}), 0, sums);
        for (WireId wire = 0; wire < sums.size(); ++wire) {
          ASSERT_EQ(sums[wire], workload.CumulativeCount(wire, end) - workload.CumulativeCount(wire, begin))
              << begin << " to " << end;
        }
      }
    }
  }
}

TEST(WorkloadTest, RatesStayWithinTenPercentOfTheBase) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto count = static_cast<double>(Make({{PhaseKind::kGemm, 1000}}, seed).CumulativeCount(0, 1'000'000));
    EXPECT_GE(count, 0.9 * 880'000 - 1000);
    EXPECT_LE(count, 1.1 * 880'000 + 1000);
  }
}

TEST(WorkloadTest, SeedAndWireAndPhaseVary) {
  const Workload one = Make({{PhaseKind::kGemm, 100'000}, {PhaseKind::kGemm, 100'000}}, 1, {"e", "e"});
  const Workload two = Make({{PhaseKind::kGemm, 100'000}, {PhaseKind::kGemm, 100'000}}, 2, {"e", "e"});
  const uint64_t count = one.CumulativeCount(0, 100'000);
  EXPECT_NE(count, two.CumulativeCount(0, 100'000));
  EXPECT_NE(count, one.CumulativeCount(1, 100'000));
  EXPECT_NE(2 * count, one.CumulativeCount(0, 200'000));
  EXPECT_EQ(count, Make({{PhaseKind::kGemm, 100'000}}, 1, {"e", "e"}).CumulativeCount(0, 100'000)) << "repeatable";
}

TEST(WorkloadTest, IdleCountsNothing) {
  const Workload workload = Make({{PhaseKind::kIdle, 10}});
  for (WireId wire = 0; wire < 3; ++wire) EXPECT_EQ(workload.CumulativeCount(wire, UINT64_MAX), 0u);
}

TEST(WorkloadTest, OptionsAreChecked) {
  const auto message = [](const Workload::Options& options) {
    return std::string(Workload::Create(options).status().message());
  };
  const uint64_t half = Workload::kTurnCyclesMax / 2;
  EXPECT_EQ(message({{}, 0, {}}), "a workload needs a phase");
  EXPECT_EQ(message({{{PhaseKind::kGemm, 0}}, 0, {}}), "a phase needs a cycle at least");
  EXPECT_EQ(message({{{PhaseKind::kGemm, half}, {PhaseKind::kGemm, half}}, 0, {"a"}}), "");
  EXPECT_EQ(message({{{PhaseKind::kGemm, half}, {PhaseKind::kGemm, half + 1}}, 0, {"a"}}),
            "the phases have more than 4611686018427387904 cycles together");
  const std::vector<PhaseSpec> many(1 << 11, PhaseSpec{PhaseKind::kIdle, 1});
  EXPECT_EQ(message({many, 0, std::vector<std::string>(1 << 11, "a")}), "");
  EXPECT_EQ(message({many, 0, std::vector<std::string>((1 << 11) + 1, "a")}),
            "2048 phases x 2049 wires are more than 4194304");
}

}  // namespace
}  // namespace sideband::sim

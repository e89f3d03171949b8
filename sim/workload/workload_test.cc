// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace sideband::sim {
namespace {

constexpr PhaseKind kKinds[] = {PhaseKind::kGemm, PhaseKind::kAttention, PhaseKind::kCopy,   PhaseKind::kAllReduce,
                                PhaseKind::kIdle, PhaseKind::kLoad,      PhaseKind::kAssign, PhaseKind::kUpdate};

TEST(PhaseTest, NamesRoundTrip) {
  for (const PhaseKind kind : kKinds) EXPECT_EQ(*ParsePhaseKind(PhaseKindName(kind)), kind);
  const absl::Status unknown = ParsePhaseKind("gem").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(unknown.message(), "unknown phase 'gem' (did you mean 'gemm'?)");
}

TEST(PhaseTest, RatesAreAtMostEveryCycle) {
  EXPECT_EQ(StandardEvents().size(), 16u);
  for (const std::string& event : StandardEvents()) {
    for (const PhaseKind kind : kKinds) EXPECT_LE(BaseRate(kind, event), kRateOne) << event;
    EXPECT_EQ(BaseRate(PhaseKind::kIdle, event), 0u) << event;
  }
}

TEST(PhaseTest, PhasesHaveTheirCharacter) {
  EXPECT_GT(BaseRate(PhaseKind::kGemm, "tensor_active_cycles"), BaseRate(PhaseKind::kCopy, "tensor_active_cycles"));
  EXPECT_GT(BaseRate(PhaseKind::kAllReduce, "nvlink_tx_cycles"), BaseRate(PhaseKind::kGemm, "nvlink_tx_cycles"));
  EXPECT_EQ(BaseRate(PhaseKind::kGemm, "sm_active_cycles"), 880 * kRateOne / 1000);
  EXPECT_EQ(BaseRate(PhaseKind::kLoad, "sm_active_cycles"), 90 * kRateOne / 1000);
  EXPECT_EQ(BaseRate(PhaseKind::kUpdate, "instructions_issued_cycles"), 260 * kRateOne / 1000);
}

TEST(PhaseTest, UnknownEventsHaveStableRatesOfTheirOwn) {
  std::set<uint64_t> rates;
  for (const char* event : {"a", "b", "unknown_cycles", "unknown_cyclet"}) {
    for (const PhaseKind kind : {PhaseKind::kGemm, PhaseKind::kCopy}) {
      const uint64_t rate = BaseRate(kind, event);
      EXPECT_GE(rate, kRateOne / 64);
      EXPECT_LT(rate, kRateOne / 64 + kRateOne / 2);
      rates.insert(rate);
    }
    EXPECT_EQ(BaseRate(PhaseKind::kIdle, event), 0u);
  }
  EXPECT_EQ(rates.size(), 8u);
  // Pinned: recorded totals depend on it.
  EXPECT_EQ(BaseRate(PhaseKind::kGemm, "unknown_cycles"), 978870516u);
}

// Wire 0 is 1 in every second cycle of a steady ring; wire 1 never is. In the second ring, wire 0 is 1 in the first of
// two segments, and wire 1 in the other.
VariedTurns MakeTurns() {
  constexpr uint64_t kHalf = uint64_t{1} << 31, kOne = uint64_t{1} << 32;
  const std::vector<Pattern> steady = {{kHalf, 0}, {0, 0}};
  const std::vector<Pattern> bursts = {{kOne, 0}, {0, 0}, {0, 0}, {kOne, 0}};
  return VariedTurns(
      {PatternRing(std::vector<uint64_t>{100}, steady), PatternRing(std::vector<uint64_t>{3, 2}, bursts)},
      {{0, 0, 6}, {1, 2, 12}, {0, 0, 5}}, 2);
}

TEST(VariedTurnsTest, CountsByHand) {
  const VariedTurns turns = MakeTurns();
  EXPECT_EQ(turns.CountBefore(0, {0, 0, 6}), 3u);
  // The ring from its cycle 2 on: 1 00 111 00 111 0.
  EXPECT_EQ(turns.CountBefore(0, {0, 1, 1}), 4u);
  EXPECT_EQ(turns.CountBefore(0, {0, 1, 12}), 10u);
  EXPECT_EQ(turns.CountBefore(1, {0, 2, 0}), 5u);
  EXPECT_EQ(turns.CountBefore(0, {0, 2, 5}), 12u);
  EXPECT_EQ(turns.CountBefore(0, {1000, 1, 1}), 12'004u);
}

TEST(VariedTurnsTest, RangesAreDifferencesOfPrefixes) {
  const VariedTurns turns = MakeTurns();
  std::vector<TurnPosition> positions;
  for (const uint64_t turn : {0, 1, 7}) {
    for (uint64_t cycle = 0; cycle < 6; ++cycle) positions.push_back({turn, 0, cycle});
    for (uint64_t cycle = 0; cycle < 12; ++cycle) positions.push_back({turn, 1, cycle});
    for (uint64_t cycle = 0; cycle < 5; ++cycle) positions.push_back({turn, 2, cycle});
  }
  for (size_t begin = 0; begin < positions.size(); ++begin) {
    for (size_t end = begin; end < positions.size(); ++end) {
      std::vector<uint64_t> sums = {5, 7};
      turns.AddConsecutiveCounts(positions[begin], positions[end], 0, sums);
      for (const WireId wire : {0u, 1u}) {
        EXPECT_EQ(sums[wire] - (wire == 0 ? 5 : 7),
                  turns.CountBefore(wire, positions[end]) - turns.CountBefore(wire, positions[begin]));
      }
    }
  }
}

Workload Make(std::vector<PhaseSpec> phases, uint64_t seed = 1,
              std::vector<std::string> events = {"sm_active_cycles", "dram_read_cycles", "made_up"},
              uint32_t vary_per_mille = 0) {
  auto workload = Workload::Create({std::move(phases), seed, std::move(events), vary_per_mille});
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

TEST(WorkloadTest, VariedAndBurstyCountsEqualTheSumOfBits) {
  std::mt19937_64 random(8);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<PhaseSpec> phases;
    for (uint64_t i = 0; i <= random() % 4; ++i) {
      phases.push_back({static_cast<PhaseKind>(random() % 8), 1 + random() % 100});
      const uint64_t low = 1 + random() % 9;
      if (random() % 2 == 0) phases.back().bursts = BurstSpec{{low, low + random() % 20}, {1, 1 + random() % 9}};
    }
    phases.push_back({PhaseKind::kUpdate, 20, BurstSpec{{1, 5}, {2, 2}}});
    const Workload workload = Make(phases, seed, {"sm_active_cycles", "other"}, random() % 501);
    for (WireId wire = 0; wire < workload.wire_count(); ++wire) {
      uint64_t sum = 0;
      for (uint64_t cycle = 0; cycle < workload.turn_cycles() + 500; ++cycle) {
        ASSERT_EQ(workload.CumulativeCount(wire, cycle), sum) << "seed " << seed << " cycle " << cycle;
        sum += workload.Bit(wire, cycle) ? 1 : 0;
      }
    }
  }
}

TEST(WorkloadTest, VariedRangesAreDifferencesOfPrefixes) {
  std::mt19937_64 random(9);
  const std::vector<std::string> events(45, "dram_read_cycles");
  const Workload workload =
      Make({{PhaseKind::kAssign, 3000}, {PhaseKind::kUpdate, 1000, BurstSpec{{30, 200}, {10, 90}}}}, 3, events, 20);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t begin = random() >> random() % 64;
    const uint64_t end = begin + std::min(random() >> random() % 64, UINT64_MAX - begin);
    std::vector<uint64_t> together(45), separate(45);
    std::vector<WireId> wires(45);
    std::iota(wires.begin(), wires.end(), 0);
    workload.AddConsecutiveCounts(workload.Locate(CycleRange{begin, end}), 0, together);
    workload.AddCounts({begin, end}, wires, separate);
    EXPECT_EQ(together, separate);
    for (const WireId wire : wires) {
      ASSERT_EQ(together[wire], workload.CumulativeCount(wire, end) - workload.CumulativeCount(wire, begin));
    }
  }
}

TEST(WorkloadTest, PhasesVaryByTurnAsToldAndRepeat) {
  // A wire that is 1 in about 72 % of the cycles of the first phase, and never in the second.
  const Workload workload = Make({{PhaseKind::kAssign, 10'000}, {PhaseKind::kIdle, 10'000}}, 5, {"x_cycles"}, 20);
  std::vector<uint64_t> lengths;
  uint64_t last = 0;
  for (uint64_t cycle = 1; lengths.size() < 100; ++cycle) {
    // A turn ends with the idle phase.
    const bool begins = workload.Bit(0, cycle) && cycle - last > 12'000 &&
                        workload.CumulativeCount(0, cycle) == workload.CumulativeCount(0, cycle - 5'000);
    if (!begins) continue;
    lengths.push_back(cycle - last);
    last = cycle;
  }
  for (const uint64_t length : lengths) EXPECT_NEAR(static_cast<double>(length), 20'000, 2 * 200 + 100);
  EXPECT_GT(*std::ranges::max_element(lengths), 20'100u);
  EXPECT_LT(*std::ranges::min_element(lengths), 19'900u);
  EXPECT_NEAR(static_cast<double>(workload.turn_cycles()), 64 * 20'000, 64 * 100);
  const uint64_t turn = workload.turn_cycles();
  EXPECT_EQ(workload.CumulativeCount(0, turn + 12'345),
            workload.CumulativeCount(0, turn) + workload.CumulativeCount(0, 12'345));
}

// The largest difference of a ratio of two events between windows, relative to its mean.
double Fluctuation(const Workload& workload, uint64_t window, uint64_t windows) {
  std::vector<double> ratios;
  for (uint64_t i = 0; i < windows; ++i) {
    std::vector<uint64_t> sums(2);
    workload.AddCounts({i * window, (i + 1) * window}, std::vector<WireId>{0, 1}, sums);
    ratios.push_back(static_cast<double>(sums[0]) / static_cast<double>(sums[1] + 1));
  }
  const double mean = std::accumulate(ratios.begin(), ratios.end(), 0.0) / static_cast<double>(windows);
  return (*std::ranges::max_element(ratios) - *std::ranges::min_element(ratios)) / mean;
}

TEST(WorkloadTest, BurstsChangeTheCompositionOfEvents) {
  const std::vector<std::string> events = {"instructions_issued_cycles", "dram_read_cycles"};
  const BurstSpec bursts{{5'000, 20'000}, {5'000, 20'000}};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_GT(Fluctuation(Make({{PhaseKind::kUpdate, 1'000'000, bursts}}, seed, events), 10'000, 20), 0.05) << seed;
    EXPECT_LT(Fluctuation(Make({{PhaseKind::kAssign, 1'000'000}}, seed, events), 10'000, 20), 0.01) << seed;
  }
}

TEST(WorkloadTest, WiresOfAnEventShareItsBursts) {
  const Workload workload = Make({{PhaseKind::kUpdate, 10'000'000, BurstSpec{{10'000, 10'000}, {10'000, 10'000}}}}, 1,
                                 {"dram_read_cycles", "dram_read_cycles"});
  std::vector<double> factors;
  for (uint64_t cycle = 0; cycle < 500'000; cycle += 10'000) {
    std::vector<uint64_t> sums(2);
    workload.AddCounts({cycle, cycle + 10'000}, std::vector<WireId>{0, 1}, sums);
    if (sums[1] > 1000) factors.push_back(static_cast<double>(sums[0]) / static_cast<double>(sums[1]));
  }
  ASSERT_GT(factors.size(), 10u);
  // Each wire has a rate of its own, in the same proportion in every burst.
  EXPECT_NEAR(*std::ranges::max_element(factors), *std::ranges::min_element(factors), 0.01);
}

TEST(WorkloadTest, SteadyTurnsAreThoseOfAlways) {
  // Pinned: recorded totals depend on it.
  const Workload workload = Make({{PhaseKind::kGemm, 777}, {PhaseKind::kCopy, 55}}, 42);
  EXPECT_EQ(workload.turn_cycles(), 832u);
  EXPECT_EQ(workload.CumulativeCount(0, 1'000'000), 813'743u);
  EXPECT_EQ(workload.CumulativeCount(1, 1'000'000), 198'295u);
  EXPECT_EQ(workload.CumulativeCount(2, 1'000'000), 447'118u);
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
  EXPECT_EQ(message({many, 0, std::vector<std::string>(17, "a"), 1}),
            "2048 phases, bursty or varied, x 17 wires are more than 32768");
  EXPECT_EQ(message({{{PhaseKind::kGemm, 1}}, 0, {}, 501}), "phases vary by 501 per mille, at most 500 are possible");
  EXPECT_EQ(message({{{PhaseKind::kGemm, half}}, 0, {"a"}, 1}),
            "the phases have more than 36028797018963968 cycles together");
  const auto bursts = [&](BurstLengths on) { return message({{{PhaseKind::kGemm, 9, BurstSpec{on, {1, 1}}}}, 0, {}}); };
  const std::string limits = "bursts last from 1 cycle to 72057594037927936";
  EXPECT_EQ(bursts({0, 1}), limits);
  EXPECT_EQ(bursts({2, 1}), limits);
  EXPECT_EQ(bursts({1, UINT64_MAX}), limits);
  EXPECT_EQ(bursts({1, Workload::kBurstCyclesMax}), "");
}

}  // namespace
}  // namespace sideband::sim

// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/synthetic_slice.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/wires/domain_clock.h"
#include "sim/workload/bitwise_source.h"

namespace sideband::sim {
namespace {

Workload WorkloadOfWires(uint64_t seed, size_t wires = 2) {
  return *Workload::Create({{{PhaseKind::kGemm, 100}, {PhaseKind::kIdle, 7}, {PhaseKind::kCopy, 50}},
                            seed,
                            std::vector<std::string>(wires, "sm_active_cycles")});
}

uint64_t Count(const WireSource& source, CycleRange range) {
  const WireId wire = 1;
  uint64_t sum = 0;
  source.AddCounts(range, std::span(&wire, 1), std::span(&sum, 1));
  uint64_t consecutive = 0;
  source.AddConsecutiveCounts(range, wire, std::span(&consecutive, 1));
  EXPECT_EQ(consecutive, sum);
  return sum;
}

class SyntheticSliceTest : public testing::Test {
 protected:
  SyntheticSliceTest() {
    EXPECT_TRUE(slice_.Add("vm1", "a", WorkloadOfWires(1)).ok());
    EXPECT_TRUE(slice_.Add("vm2", "b", WorkloadOfWires(2)).ok());
  }

  SyntheticSlice slice_;
};

TEST_F(SyntheticSliceTest, NobodyResidentCountsNothing) {
  EXPECT_EQ(Count(slice_, {0, 1000}), 0u);
  slice_.SwitchIn("vm1", "a", 1000);
  slice_.SwitchOut(2000);
  EXPECT_EQ(Count(slice_, {2000, 3000}), 0u);
}

TEST_F(SyntheticSliceTest, WorkloadAdvancesOnlyWhileResident) {
  const Workload a = WorkloadOfWires(1);
  slice_.SwitchIn("vm1", "a", 1000);
  EXPECT_EQ(Count(slice_, {1000, 1060}), a.CumulativeCount(1, 60));
  EXPECT_EQ(Count(slice_, {0, 1060}), a.CumulativeCount(1, 60)) << "cycles before the residency count as 0";
  slice_.SwitchOut(1060);
  EXPECT_EQ(slice_.own_cycles("vm1", "a"), 60u);
  slice_.SwitchIn("vm2", "b", 1070);
  EXPECT_EQ(Count(slice_, {1070, 1100}), WorkloadOfWires(2).CumulativeCount(1, 30));
  slice_.SwitchIn("vm1", "a", 1100);  // also switches b out
  EXPECT_EQ(slice_.own_cycles("vm2", "b"), 30u);
  EXPECT_EQ(Count(slice_, {1100, 1200}), a.CumulativeCount(1, 160) - a.CumulativeCount(1, 60));
}

TEST_F(SyntheticSliceTest, TheResidentsWorkStandsStillWhileTheHypervisorRuns) {
  ASSERT_TRUE(slice_.SetHost(WorkloadOfWires(9)).ok());
  const Workload a = WorkloadOfWires(1), host = WorkloadOfWires(9);
  slice_.SwitchIn("vm1", "a", 1000);
  slice_.SwitchMode(true, 1100, 1100);
  slice_.SwitchMode(false, 1130, 1130);
  slice_.SwitchMode(false, 1150, 1150);  // nothing new
  slice_.SwitchMode(true, 1200, 1200);
  EXPECT_EQ(Count(slice_, {1000, 1100}), a.CumulativeCount(1, 100));
  EXPECT_EQ(Count(slice_, {1100, 1130}), host.CumulativeCount(1, 30));
  EXPECT_EQ(Count(slice_, {1130, 1200}), a.CumulativeCount(1, 170) - a.CumulativeCount(1, 100));
  EXPECT_EQ(Count(slice_, {1000, 1250}), a.CumulativeCount(1, 170) + host.CumulativeCount(1, 80));
  for (const uint64_t cycle : {1000, 1099, 1100, 1129, 1130, 1199, 1200, 1249}) {
    EXPECT_EQ(slice_.Bit(1, cycle), Count(slice_, {cycle, cycle + 1}) == 1) << cycle;
  }
  slice_.SwitchIn("vm2", "b", 1250);
  EXPECT_EQ(slice_.own_cycles("vm1", "a"), 170u);
  slice_.SwitchMode(true, 1300, 1300);
  EXPECT_EQ(Count(slice_, {1300, 1360}), host.CumulativeCount(1, 140) - host.CumulativeCount(1, 80)) << "it goes on";
}

TEST_F(SyntheticSliceTest, TheHypervisorWorksAloneWhileNobodyIsResident) {
  ASSERT_TRUE(slice_.SetHost(WorkloadOfWires(9)).ok());
  slice_.LetHostRunAlone();
  const Workload a = WorkloadOfWires(1), host = WorkloadOfWires(9);
  EXPECT_EQ(Count(slice_, {0, 1000}), host.CumulativeCount(1, 1000));
  slice_.SwitchIn("vm1", "a", 1000);
  EXPECT_EQ(Count(slice_, {1000, 1100}), a.CumulativeCount(1, 100));
  slice_.SwitchMode(true, 1100, 1100);
  EXPECT_EQ(Count(slice_, {1100, 1130}), host.CumulativeCount(1, 1030) - host.CumulativeCount(1, 1000));
  slice_.SwitchOut(1130);
  slice_.SwitchMode(false, 1150, 1150);  // without a resident
  EXPECT_EQ(Count(slice_, {1130, 1200}), host.CumulativeCount(1, 1100) - host.CumulativeCount(1, 1030)) << "it goes on";
  for (const uint64_t cycle : {1130, 1150, 1199}) {
    EXPECT_EQ(slice_.Bit(1, cycle), Count(slice_, {cycle, cycle + 1}) == 1) << cycle;
  }
  slice_.SwitchIn("vm9", "unknown", 1200);
  EXPECT_EQ(Count(slice_, {1200, 1300}), 0u) << "somebody without a workload has the slice";
  slice_.SwitchOut(1300);
  EXPECT_EQ(Count(slice_, {1300, 1310}), host.CumulativeCount(1, 1110) - host.CumulativeCount(1, 1100));
  EXPECT_EQ(slice_.own_cycles("vm1", "a"), 100u);
}

TEST_F(SyntheticSliceTest, AHypervisorWithoutAWorkloadDrivesNothing) {
  slice_.SwitchIn("vm1", "a", 0);
  slice_.SwitchMode(true, 100, 100);
  EXPECT_EQ(Count(slice_, {100, 200}), 0u);
  EXPECT_EQ(slice_.SetHost(WorkloadOfWires(9, 3)).code(), absl::StatusCode::kInvalidArgument);
}

// Units may count cycles up to kHistoryCycles late.
TEST_F(SyntheticSliceTest, ManyModesAreHistory) {
  ASSERT_TRUE(slice_.SetHost(WorkloadOfWires(9)).ok());
  slice_.SwitchIn("vm1", "a", 0);
  for (uint64_t cycle = 10; cycle < 20'000; cycle += 10) {
    slice_.SwitchMode(cycle / 10 % 2 == 1, cycle, cycle);
    if (cycle < kHistoryCycles || cycle % 1000 != 0) continue;
    uint64_t bits = 0;
    for (uint64_t past = cycle - kHistoryCycles; past < cycle; ++past) bits += slice_.Bit(1, past) ? 1 : 0;
    ASSERT_EQ(Count(slice_, {cycle - kHistoryCycles, cycle}), bits) << cycle;
  }
}

TEST_F(SyntheticSliceTest, WholeResidencyIsHistory) {
  const Workload a = WorkloadOfWires(1);
  slice_.SwitchIn("vm1", "a", 1000);
  EXPECT_EQ(Count(slice_, {900'000, 1'000'000}), a.CumulativeCount(1, 999'000) - a.CumulativeCount(1, 899'000));
  EXPECT_EQ(Count(slice_, {1000, 1511}), a.CumulativeCount(1, 511)) << "asked late";
}

TEST_F(SyntheticSliceTest, CountsDoNotDependOnTheSchedule) {
  std::mt19937_64 random(3);
  uint64_t cycle = 0;
  uint64_t own = 0;
  uint64_t total = 0;
  for (int i = 0; i < 200; ++i) {
    cycle += random() % 40;
    slice_.SwitchIn("vm1", "a", cycle);
    for (int part = 0; part < 3; ++part) {
      const uint64_t size = random() % 50;
      total += Count(slice_, {cycle, cycle + size});
      cycle += size;
      own += size;
    }
    slice_.SwitchOut(cycle);
  }
  EXPECT_EQ(slice_.own_cycles("vm1", "a"), own);
  EXPECT_EQ(total, WorkloadOfWires(1).CumulativeCount(1, own));
}

TEST_F(SyntheticSliceTest, UnknownContextLeavesTheWiresAtZero) {
  slice_.SwitchIn("vm1", "a", 0);
  slice_.SwitchIn("vm1", "", 10);
  EXPECT_EQ(Count(slice_, {10, 1000}), 0u);
  EXPECT_EQ(slice_.own_cycles("vm1", "a"), 10u);
  EXPECT_EQ(slice_.own_cycles("vm1", ""), 0u);
}

TEST_F(SyntheticSliceTest, TimeThatGoesBackwardsAddsNothing) {
  slice_.SwitchIn("vm1", "a", 100);
  EXPECT_EQ(Count(slice_, {0, 100}), 0u);
  slice_.SwitchOut(50);
  EXPECT_EQ(slice_.own_cycles("vm1", "a"), 0u);
  slice_.SwitchOut(60);
}

TEST_F(SyntheticSliceTest, AddIsChecked) {
  EXPECT_EQ(slice_.Add("vm1", "a", WorkloadOfWires(3)).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(slice_.Add("vm1", "b", WorkloadOfWires(3)).ok());
  const absl::Status wires = slice_.Add("vm1", "c", WorkloadOfWires(3, 3));
  EXPECT_EQ(wires.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(wires.message(), "the workload of vm1/c has 3 wires, the others have 2");
}

TEST(SteadyWorkloadTest, IgnoresSwitches) {
  SteadyWorkload steady(WorkloadOfWires(4));
  EXPECT_EQ(Count(steady, {10, 500}),
            WorkloadOfWires(4).CumulativeCount(1, 500) - WorkloadOfWires(4).CumulativeCount(1, 10));
  steady.SwitchIn("vm1", "a", 100);
  steady.SwitchOut(200);
  EXPECT_EQ(Count(steady, {0, 300}), WorkloadOfWires(4).CumulativeCount(1, 300));
}

// --- Domains with clocks of their own --------------------------------------------------------------------------------

LocalClocks OneClock(const DomainClockSpec& spec) {
  return LocalClocks({nullptr, std::make_shared<const DomainClock>(*DomainClock::Create(spec))});
}

TEST(SyntheticDomainTest, AWorkloadAdvancesInTheCyclesOfItsClock) {
  SyntheticSlice slice(OneClock({.hz = 500'000'000}));
  ASSERT_TRUE(slice.Add("vm1", "a", WorkloadOfWires(1)).ok());
  slice.SwitchIn("vm1", "a", 100);
  EXPECT_EQ(slice.CyclesBefore(1, 100), 50u);
  EXPECT_EQ(slice.CyclesHeld(1, 300), 150u);
  EXPECT_EQ(Count(slice.domain(1), {50, 150}), WorkloadOfWires(1).CumulativeCount(1, 100));
  EXPECT_EQ(Count(slice, {100, 300}), WorkloadOfWires(1).CumulativeCount(1, 200)) << "the reference clock's domain";
  slice.SwitchOut(301);
  EXPECT_EQ(slice.own_cycles("vm1", "a", 1), 100u);
  EXPECT_EQ(slice.own_cycles("vm1", "a"), 201u);
}

TEST(SyntheticDomainTest, AStoppedClockStopsTheWork) {
  SyntheticSlice slice(OneClock({.gates = {{InstantAtCycle(40), InstantAtCycle(1040)}}}));
  ASSERT_TRUE(slice.Add("vm1", "a", WorkloadOfWires(1)).ok());
  slice.SwitchIn("vm1", "a", 0);
  EXPECT_EQ(slice.CyclesBefore(1, 1040), 40u);
  EXPECT_EQ(Count(slice.domain(1), {0, slice.CyclesBefore(1, 1100)}), WorkloadOfWires(1).CumulativeCount(1, 100));
}

TEST(SyntheticDomainTest, SteadyWorkIsInTheCyclesOfItsClock) {
  const SteadyWorkload steady(WorkloadOfWires(4), OneClock({.hz = 2'000'000'000}));
  EXPECT_EQ(steady.CyclesBefore(1, 100), 200u);
  EXPECT_EQ(steady.CyclesHeld(1, 100), 200u);
  EXPECT_EQ(Count(steady.domain(1), {0, 200}), WorkloadOfWires(4).CumulativeCount(1, 200));
}

DomainClockSpec DrawnClock() {
  return {.hz = *rc::gen::inRange<uint64_t>(100'000'000, 4'000'000'000),
          .tolerance_ppb = 1'000'000,
          .phase = *rc::gen::arbitrary<uint32_t>(),
          .steps = {{InstantAtCycle(*rc::gen::inRange<uint64_t>(1, 2000)), 700'000'000}},
          .gates = {{InstantAtCycle(2500), InstantAtCycle(*rc::gen::inRange<uint64_t>(2501, 3000))}}};
}

// Each local cycle is of the resident in the first reference cycle whose edge is at or after its own, and a workload's
// cycles are counted one by one.
RC_GTEST_PROP(SyntheticDomainPropertyTest, CyclesAreThoseOfTheirResidents, ()) {
  const DomainClockSpec spec = DrawnClock();
  const DomainClock clock = *DomainClock::Create(spec);
  SyntheticSlice slice(OneClock(spec));
  const Workload works[] = {WorkloadOfWires(1), WorkloadOfWires(2),
                            WorkloadOfWires(9)};  // the last one is the hypervisor's
  RC_ASSERT(slice.Add("vm1", "a", works[0]).ok() && slice.Add("vm2", "b", works[1]).ok());
  RC_ASSERT(slice.SetHost(works[2]).ok());
  uint64_t cycle = 0, edge = 0, own[3] = {};
  for (const int act : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4))) {
    if (act < 2) slice.SwitchIn(act == 0 ? "vm1" : "vm2", act == 0 ? "a" : "b", cycle);
    if (act == 2) slice.SwitchOut(cycle);
    if (act == 3) continue;
    const uint64_t first = cycle, middle = cycle + *rc::gen::inRange(0, 200);
    cycle = middle + *rc::gen::inRange(0, 200);
    slice.SwitchMode(true, middle, first);
    uint64_t expected = 0;
    const uint64_t begin = edge;
    for (; CycleAtOrAfter(clock.InstantOf(edge)) <= cycle; ++edge) {
      // Reference cycle c ends at instant c + 1.
      const int work = act == 2 ? -1 : CycleAtOrAfter(clock.InstantOf(edge)) > middle ? 2 : act;
      if (work >= 0) expected += works[work].Bit(1, own[work]++) ? 1 : 0;
    }
    RC_ASSERT(slice.CyclesBefore(1, cycle) == edge);
    RC_ASSERT(Count(slice.domain(1), {begin, edge}) == expected);
  }
}

constexpr size_t kSourceWires = 45;

Workload StandardWorkload(uint64_t seed) {
  std::vector<std::string> events(kSourceWires);
  for (size_t i = 0; i < kSourceWires; ++i) events[i] = StandardEvents()[i % StandardEvents().size()];
  return *Workload::Create({{{PhaseKind::kGemm, 100}, {PhaseKind::kIdle, 7}, {PhaseKind::kCopy, 50}}, seed, events});
}

std::vector<uint64_t> Counts(const WireSource& source, CycleRange range) {
  std::vector<WireId> wires(kSourceWires);
  std::iota(wires.begin(), wires.end(), 0);
  std::vector<uint64_t> sums(kSourceWires);
  source.AddCounts(range, wires, sums);
  return sums;
}

TEST(BitwiseSourceTest, EqualsTheClosedFormOfASlice) {
  SyntheticSlice fast;
  SyntheticSlice counted;
  BitwiseSource slow(counted);
  for (SyntheticSlice* slice : {&fast, &counted}) {
    ASSERT_TRUE(slice->Add("vm1", "a", StandardWorkload(1)).ok());
    ASSERT_TRUE(slice->Add("vm2", "b", StandardWorkload(2)).ok());
  }
  std::mt19937_64 random(3);
  uint64_t cycle = 0;
  for (int i = 0; i < 60; ++i) {
    const char* const vm = random() % 2 == 0 ? "vm1" : "vm2";
    const char* const context = random() % 2 == 0 ? "a" : "b";
    fast.SwitchIn(vm, context, cycle);
    slow.SwitchIn(vm, context, cycle);
    const uint64_t end = cycle + random() % 500;
    EXPECT_EQ(Counts(fast, {cycle, end}), Counts(slow, {cycle, end}));
    const uint64_t out = end - random() % (end - cycle + 1);
    fast.SwitchOut(out);
    slow.SwitchOut(out);
    EXPECT_EQ(Counts(slow, {cycle, end}), std::vector<uint64_t>(kSourceWires)) << "nobody is resident";
    cycle = end;
  }
}

TEST(BitwiseSourceTest, EqualsTheClosedFormOfASteadyWorkload) {
  SteadyWorkload steady(StandardWorkload(4));
  const BitwiseSource slow(steady);
  EXPECT_EQ(Counts(steady, {11, 1000}), Counts(slow, {11, 1000}));
}

}  // namespace
}  // namespace sideband::sim

// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/bitwise_source.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "sim/workload/steady_workload.h"
#include "sim/workload/synthetic_slice.h"

namespace sideband::sim {
namespace {

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

// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/unit_clocks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/wires/wire_source.h"

namespace sideband::mcu {
namespace {

// Domain d has the edges of its list.
class ListedEdges final : public sim::WireSource {
 public:
  explicit ListedEdges(std::vector<uint64_t> edges) : edges_(std::move(edges)) {}
  void AddCounts(sim::CycleRange, std::span<const sim::WireId>, std::span<uint64_t>) const override {}
  uint64_t CyclesBefore(size_t, uint64_t cycle) const override {
    ++asked_;
    return static_cast<uint64_t>(std::ranges::lower_bound(edges_, cycle) - edges_.begin());
  }
  size_t asked() const { return asked_; }

 private:
  const std::vector<uint64_t> edges_;
  mutable size_t asked_ = 0;
};

TEST(UnitClocksTest, UnitsOfOneClockShareIt) {
  UnitClocks clocks(2);
  EXPECT_EQ(clocks.Add(0, 1), clocks.Add(0, 1));
  EXPECT_NE(clocks.Add(0, 1), clocks.Add(1, 1));
  EXPECT_NE(clocks.Add(0, 1), clocks.Add(0, 2));
  const ListedEdges wires({3, 6, 9});
  clocks.Attach(0, wires, 0);
  const size_t before = wires.asked();
  clocks.AdvanceTo(7);
  EXPECT_EQ(clocks.edges(clocks.Add(0, 1)), 2u);
  EXPECT_EQ(wires.asked() - before, 2u) << "once for each clock";
}

TEST(UnitClocksTest, WithoutWiresAndInDomain0ItIsTheReferenceClock) {
  UnitClocks clocks(1);
  const size_t other = clocks.Add(0, 1), reference = clocks.Add(0, 0);
  clocks.AdvanceTo(7);
  EXPECT_EQ(clocks.edges(other), 7u);
  const ListedEdges wires({3, 6, 9});
  clocks.Attach(0, wires, 7);
  EXPECT_EQ(clocks.edges(other), 2u);
  EXPECT_EQ(clocks.edges(reference), 7u);
  EXPECT_EQ(clocks.FirstAfter(reference, 5, 100), 12u);
  EXPECT_EQ(clocks.FirstAfter(reference, 5, 9), 9u);
}

RC_GTEST_PROP(UnitClocksPropertyTest, TheFirstCycleIsThatOfASearchOneByOne, ()) {
  // With gaps, as of a clock that stops, and several edges in a cycle.
  std::vector<uint64_t> edges;
  for (uint64_t at = 0; edges.size() < 60; at += *rc::gen::element<uint64_t>(0, 1, 1, 2, 3, 40)) edges.push_back(at);
  const ListedEdges wires(edges);
  UnitClocks clocks(1);
  const size_t clock = clocks.Add(0, 1);
  clocks.Attach(0, wires, 0);
  uint64_t now = 0;
  for (int i = 0; i < 10; ++i) {
    clocks.AdvanceTo(now += *rc::gen::inRange<uint64_t>(0, 20));
    const uint64_t more = *rc::gen::inRange<uint64_t>(1, 12), end = now + *rc::gen::inRange<uint64_t>(1, 100);
    RC_ASSERT(clocks.edges(clock) == wires.CyclesBefore(1, now));
    uint64_t expected = now + 1;
    while (expected < end && wires.CyclesBefore(1, expected) < clocks.edges(clock) + more) ++expected;
    RC_ASSERT(clocks.FirstAfter(clock, more, end) == expected);
  }
}

}  // namespace
}  // namespace sideband::mcu

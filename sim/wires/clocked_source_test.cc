// SPDX-License-Identifier: Apache-2.0
#include "sim/wires/clocked_source.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "sim/wires/packed_wires.h"

namespace sideband::sim {
namespace {

TEST(ClockedSourceTest, TheClockCountsEveryCycleAndTheOtherWiresAsBefore) {
  const auto wires = std::make_shared<PackedWires>(2, 256);
  wires->Reset(0);
  wires->ExtendTo(256);
  wires->SetRun(1, {10, 20});
  const ClockedSource clocked(wires);
  std::vector<uint64_t> sums = {100};
  clocked.AddCounts({3, 131}, {{ClockedSource::kClockWire}}, sums);
  EXPECT_EQ(sums[0], 228u);
  sums = {0, 0};
  clocked.domain(0).AddCounts({0, 15}, std::vector<WireId>{0, 1}, sums);
  EXPECT_EQ(sums, (std::vector<uint64_t>{0, 5}));
  clocked.AddConsecutiveCounts({3, 131}, ClockedSource::kClockWire, std::span(sums).first(1));
  EXPECT_EQ(sums, (std::vector<uint64_t>{128, 5}));
  clocked.AddConsecutiveCounts({0, 15}, 0, sums);
  EXPECT_EQ(sums, (std::vector<uint64_t>{128, 10}));
}

TEST(ClockedSourceTest, DomainsAndSwitchesAreThoseOfTheSource) {
  struct TwoClocks final : WireSource {
    void AddCounts(CycleRange, std::span<const WireId>, std::span<uint64_t>) const override {}
    const WireSource& domain(size_t index) const override {
      return index == 0 ? static_cast<const WireSource&>(*this) : other;
    }
    uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return cycle * (1 + domain); }
    uint64_t CyclesHeld(size_t domain, uint64_t end) const override { return end * (1 + domain) + 1; }
    void SwitchIn(absl::string_view, absl::string_view, uint64_t cycle) override { switches.push_back(cycle); }
    void SwitchOut(uint64_t cycle) override { switches.push_back(cycle); }
    PackedWires other{1, 64};
    std::vector<uint64_t> switches;
  };
  const auto source = std::make_shared<TwoClocks>();
  ClockedSource clocked(source);
  EXPECT_EQ(&clocked.domain(0), &clocked);
  EXPECT_EQ(&clocked.domain(1), &source->other);
  EXPECT_EQ(clocked.CyclesBefore(1, 50), 100u);
  EXPECT_EQ(clocked.CyclesHeld(1, 50), 101u);
  clocked.SwitchIn("vm", "context", 7);
  clocked.SwitchOut(9);
  EXPECT_EQ(source->switches, (std::vector<uint64_t>{7, 9}));
}

}  // namespace
}  // namespace sideband::sim

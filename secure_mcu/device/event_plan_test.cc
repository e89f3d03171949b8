// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/event_plan.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

// `bits` inputs of each event.
std::vector<CounterInput> InputsOfBits(const std::vector<uint32_t>& bits, uint16_t first = 0) {
  std::vector<CounterInput> inputs;
  for (const uint32_t count : bits) {
    for (uint32_t bit = 0; bit < count; ++bit) inputs.push_back({.meaning = {first, static_cast<uint8_t>(bit)}});
    ++first;
  }
  return inputs;
}

std::vector<size_t> Sizes(const CcuSpec& ccu) {
  std::vector<size_t> sizes;
  for (const UlcSpec& ulc : ccu.ulcs) sizes.push_back(ulc.inputs.size());
  return sizes;
}

TEST(UnitDealerTest, UnitsAreBalanced) {
  const auto ccus = DealUnits("slice0", 0, {{0, InputsOfBits({1, 4, 1, 4, 1, 1, 4, 4, 90})}}, 100);
  ASSERT_EQ(ccus.size(), 1u);
  EXPECT_EQ(Sizes(ccus[0]), (std::vector<size_t>{90, 10, 10})) << "an event's inputs are of one unit";
  std::vector<uint32_t> counters;
  for (const UlcSpec& ulc : ccus[0].ulcs) counters.push_back(ulc.counters);
  EXPECT_EQ(counters, (std::vector<uint32_t>{34, 33, 33})) << "all counters, and no more";
}

TEST(UnitDealerTest, EachClockHasUnitsOfItsOwn) {
  const auto ccus = DealUnits("slice0", 0, {{0, InputsOfBits({1, 1, 1, 1, 1, 1})}, {3, InputsOfBits({1, 1, 1}, 6)}}, 3);
  ASSERT_EQ(ccus.size(), 2u);
  EXPECT_EQ(ccus[0].ulcs[0].counters, 2u);
  EXPECT_EQ(ccus[1].ulcs[0].domain, 3u);
  EXPECT_EQ(ccus[1].ulcs[0].counters, 1u);
  EXPECT_TRUE(ccus[1].ulcs[0].is_switched());
}

TEST(UnitDealerTest, NothingTurnsWithoutNeed) {
  const auto ccus = DealUnits("slice0", 0, {{0, InputsOfBits({60})}}, 60);
  ASSERT_EQ(ccus.size(), 1u);
  EXPECT_EQ(Sizes(ccus[0]), (std::vector<size_t>{45, 15}));
  EXPECT_FALSE(ccus[0].ulcs[0].is_switched());
}

}  // namespace

}  // namespace sideband::mcu

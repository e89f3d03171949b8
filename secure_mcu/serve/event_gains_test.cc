// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/event_gains.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

TEST(EventGainsTest, AreTheWiresOfEachSlice) {
  PipelineConfig config{.slices = 3, .events = 3};
  const CounterInput first{.wire = 0, .meaning = {0, 0}}, second{.wire = 1, .meaning = {1, 0}};
  config.ccus = {{.channel = 0, .ulcs = {{.inputs = {first, second}}, {.inputs = {first}}}},
                 {.channel = 0, .ulcs = {{.inputs = {first}}}},
                 {.channel = 2, .ulcs = {{.inputs = {first}}}},
                 {.channel = kDeviceChannel, .ulcs = {{.inputs = {{.wire = 0, .meaning = {2, 0}}}}}}};
  const EventGains gains(config);
  EXPECT_EQ(gains.PerCycle(0, 0b001), 3);
  EXPECT_EQ(gains.PerCycle(0, 0b010), 0) << "none on slice 1";
  EXPECT_EQ(gains.PerCycle(0, 0b101), 4);
  EXPECT_EQ(gains.PerCycle(0, kEverySlice), 4);
  EXPECT_EQ(gains.PerCycle(1, kEverySlice), 1);
  EXPECT_EQ(gains.PerCycle(2, 0b111), 0) << "the device's units are on no slice";
  EXPECT_EQ(gains.PerCycle(2, kEverySlice), 1);
  EXPECT_EQ(gains.PerCycle(0, 0), 0);
}

TEST(EventGainsTest, NumbersAreWorthWhatTheyCanBe) {
  PipelineConfig config{.slices = 1, .events = 4};
  std::vector<CounterInput> inputs = NumberInputs(0, 4, 0, /*prescaled=*/false);
  for (const uint32_t digits : {3u, 8u}) {
    const auto more = NumberInputs(10, digits, digits == 3 ? 1 : 2, /*prescaled=*/true);
    inputs.insert(inputs.end(), more.begin(), more.end());
  }
  inputs.push_back({.wire = 30, .meaning = {3, 0}, .masked = true});
  config.ccus = {{.channel = 0, .ulcs = {{.inputs = inputs}}}};
  const EventGains gains(config);
  EXPECT_EQ(gains.PerCycle(0, 1), 15);
  EXPECT_EQ(gains.PerCycle(1, 1), 7.0 / 32);
  EXPECT_EQ(gains.PerCycle(2, 1), 255.0 / 32);
  EXPECT_EQ(gains.PerCycle(3, 1), 0) << "masked";
}

}  // namespace
}  // namespace sideband::mcu

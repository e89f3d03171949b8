// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/event_gains.h"

#include <gtest/gtest.h>

#include <vector>

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

using mailbox::EventScope;
using mailbox::SliceRate;
using Rates = std::vector<SliceRate>;

constexpr uint64_t kOne = uint64_t{1} << 32;

TEST(EventGainsTest, TheCatalogueHasOneRateWhereAllSlicesAreEqual) {
  PipelineConfig config{.slices = 2, .events = 4};
  const CounterInput everywhere{.meaning = {0, 0}}, on_one{.meaning = {1, 0}}, of_device{.meaning = {2, 0}};
  config.ccus = {{.channel = 0, .ulcs = {{.inputs = {everywhere, on_one}}}},
                 {.channel = 1, .ulcs = {{.inputs = {everywhere}}}},
                 {.channel = kDeviceChannel, .ulcs = {{.inputs = {of_device}}, {.inputs = {of_device}}}}};
  const EventGains gains(config);
  EXPECT_EQ(gains.DetailsOf(0, EventScope::kContext).slices, (Rates{{kOne, kOne}}));
  EXPECT_EQ(gains.DetailsOf(1, EventScope::kContext).slices, (Rates{{kOne, kOne}, {0, 0}}));
  EXPECT_EQ(gains.DetailsOf(2, EventScope::kDevice).slices, (Rates{{2 * kOne, 2 * kOne}}));
  EXPECT_EQ(gains.DetailsOf(3, EventScope::kContext).slices, Rates{}) << "without wires";
}

TEST(EventGainsTest, AWireOfAnotherClockHasAGainAndNoCapacity) {
  PipelineConfig config{.slices = 1, .events = 1};
  config.ccus = {{.channel = 0, .ulcs = {{.domain = 1, .inputs = {{.meaning = {0, 0}}}}}}};
  EXPECT_EQ(EventGains(config).DetailsOf(0, EventScope::kContext).slices, (Rates{{0, kOne}}));
}

TEST(EventGainsTest, AGainBeyondTheFormatIsUnknown) {
  for (const uint32_t digits : {20u, 21u, 32u}) {
    PipelineConfig config{.slices = 1, .events = 1};
    const std::vector<CounterInput> inputs = NumberInputs(0, digits, 0, /*prescaled=*/false);
    config.ccus = {{.channel = 0, .ulcs = {{.inputs = inputs}, {.inputs = inputs}}}};
    const Rates rates = EventGains(config).DetailsOf(0, EventScope::kContext).slices;
    ASSERT_EQ(rates.size(), 1u);
    EXPECT_EQ(rates[0].gain_q32, 0u) << digits << " digits on two units are more than 2^20";
    EXPECT_LE(rates[0].capacity_q32, mailbox::kRateQ32Max);
  }
}

}  // namespace
}  // namespace sideband::mcu

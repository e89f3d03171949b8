// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/gpu_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/board/sensor_families.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

constexpr absl::Time kBmcTime = absl::FromUnixSeconds(1'000'000'000);

BoardTime At(absl::Duration steady) {
  return {.steady = steady, .wall = absl::FromUnixSeconds(1'800'000'000) + steady};
}

TEST(AnswerAgesTest, AreDifferencesWithinTheAnswer) {
  AnswerAges ages;
  ages.Take(kBmcTime, absl::Seconds(100));
  EXPECT_EQ(ages.TimeOf(kBmcTime), absl::Seconds(100));
  EXPECT_EQ(ages.TimeOf(kBmcTime - absl::Seconds(29)), absl::Seconds(71));
  EXPECT_EQ(ages.TimeOf(kBmcTime - absl::Milliseconds(200)), absl::Seconds(100) - absl::Milliseconds(200));
}

TEST(AnswerAgesTest, WhatIsRepeatedBecomesOlder) {
  AnswerAges ages;
  ages.Take(kBmcTime, absl::Seconds(100));
  ages.Take(kBmcTime, absl::Seconds(160));
  EXPECT_EQ(ages.newest(), absl::Seconds(100));
  EXPECT_EQ(ages.TimeOf(kBmcTime - absl::Seconds(1)), absl::Seconds(99));
  ages.Take(kBmcTime + absl::Seconds(5), absl::Seconds(165));
  EXPECT_EQ(ages.newest(), absl::Seconds(165));
}

TEST(AnswerAgesTest, AJumpOfTheClockIsNoAge) {
  AnswerAges ages;
  ages.Take(kBmcTime, absl::Seconds(100));
  for (const absl::Time time : {kBmcTime - absl::Hours(24), kBmcTime + absl::Hours(9000), absl::UnixEpoch()}) {
    ages.Take(time, absl::Seconds(105));
    EXPECT_EQ(ages.TimeOf(time), absl::Seconds(105)) << time;
  }
}

TEST(AnswerAgesTest, WithoutTimesTheAnswersAgeCounts) {
  AnswerAges ages;
  ages.Take({}, absl::Seconds(100));
  ages.Take({}, absl::Seconds(105));
  EXPECT_EQ(ages.TimeOf({}), absl::Seconds(105));
}

const BmcQuantity& Row(const char* member) {
  for (const BmcQuantity& row : BmcQuantities()) {
    if (row.vendor == BmcVendor::kNvidia && absl::string_view(row.member) == member) return row;
  }
  ADD_FAILURE() << member;
  return BmcQuantities()[0];
}

class GpuValuesTest : public ::testing::Test {
 protected:
  void Take(const char* member, const char* text, absl::Duration measured, absl::Duration now) {
    const BmcQuantity& row = Row(member);
    gpu_.Take(row, {}, ParseSample(row, text),
              {.measured = measured, .keep = absl::Seconds(15), .stamp = kBmcTime + measured}, At(now));
  }
  GpuValues gpu_;
};

TEST_F(GpuValuesTest, AGroupIsAsOldAsItsOldestValue) {
  Take("temp_0", "40", absl::Seconds(99), absl::Seconds(100));
  Take("dram_0_temp_0", "50", absl::Seconds(95), absl::Seconds(100));
  Take("power_0", "200", absl::Seconds(98), absl::Seconds(100));
  const auto reading = gpu_.Reading(At(absl::Seconds(100)));
  EXPECT_EQ(reading->temperature.celsius.at(mailbox::TempSensor::kGpu0), 40);
  EXPECT_EQ(reading->samples.at(BoardGroup::kTemperature), At(absl::Seconds(95)));
  EXPECT_EQ(reading->samples.at(BoardGroup::kPower), At(absl::Seconds(98)));
}

TEST_F(GpuValuesTest, TheActivityOfTheMemoryDoesNotAgeTheOthers) {
  const auto group = [](const BoardReading& reading, const char* name) {
    const auto family = std::ranges::find(SensorFamilies(), std::string(name), &SensorFamily::name);
    EXPECT_NE(family, SensorFamilies().end()) << name;
    return family->GroupIn(reading);
  };
  Take("oem/nvidia/smactivitypercent", "50", absl::Seconds(99), absl::Seconds(100));
  EXPECT_EQ(group(*gpu_.Reading(At(absl::Seconds(100))), "sideband_board_dram_usage_ratio"), BoardGroup::kMetrics);
  Take("bandwidthpercent", "12.5", absl::Seconds(90), absl::Seconds(100));
  const auto reading = gpu_.Reading(At(absl::Seconds(100)));
  EXPECT_EQ(reading->metrics.scopes.at({}).ratios.at(mailbox::MetricId::kDramUsage), 0.125);
  EXPECT_EQ(reading->samples.at(BoardGroup::kMetrics), At(absl::Seconds(99)));
  EXPECT_EQ(reading->samples.at(BoardGroup::kMemoryActivity), At(absl::Seconds(90)));
  EXPECT_EQ(group(*reading, "sideband_board_dram_usage_ratio"), BoardGroup::kMemoryActivity);
  EXPECT_EQ(group(*reading, "sideband_board_sm_activity_ratio"), BoardGroup::kMetrics);
}

TEST_F(GpuValuesTest, WhatStopsComingIsAbsent) {
  Take("temp_0", "40", absl::Seconds(100), absl::Seconds(100));
  Take("power_0", "200", absl::Seconds(110), absl::Seconds(110));
  EXPECT_FALSE(gpu_.Reading(At(absl::Seconds(115)))->temperature.celsius.empty());
  const auto reading = gpu_.Reading(At(absl::Seconds(116)));
  EXPECT_TRUE(reading->temperature.celsius.empty());
  EXPECT_FALSE(reading->samples.contains(BoardGroup::kTemperature));
  EXPECT_FALSE(reading->power.watts.empty());
  EXPECT_EQ(gpu_.size(), 1u);
}

TEST_F(GpuValuesTest, TimesNeverGoBackAndAreNeverAhead) {
  Take("temp_0", "40", absl::Seconds(100), absl::Seconds(100));
  Take("temp_0", "41", absl::Seconds(97), absl::Seconds(103));
  EXPECT_EQ(gpu_.Reading(At(absl::Seconds(103)))->samples.at(BoardGroup::kTemperature), At(absl::Seconds(100)));
  Take("temp_0", "42", absl::Seconds(200), absl::Seconds(105));
  EXPECT_EQ(gpu_.Reading(At(absl::Seconds(105)))->samples.at(BoardGroup::kTemperature), At(absl::Seconds(105)));
}

TEST_F(GpuValuesTest, TheSameSampleIsNotNew) {
  Take("temp_0", "40", absl::Seconds(100), absl::Seconds(100));
  const BmcQuantity& row = Row("temp_0");
  gpu_.Take(row, {}, ParseSample(row, "40"),
            {.measured = absl::Seconds(101), .keep = absl::Seconds(15), .stamp = kBmcTime + absl::Seconds(100)},
            At(absl::Seconds(105)));
  EXPECT_EQ(gpu_.Reading(At(absl::Seconds(105)))->samples.at(BoardGroup::kTemperature), At(absl::Seconds(100)));
}

TEST_F(GpuValuesTest, ACounterThatFallsBeginsAgain) {
  Take("energy_0", "5.5", absl::Seconds(100), absl::Seconds(100));
  Take("energy_0", "7.25", absl::Seconds(105), absl::Seconds(105));
  const auto energy = [&](absl::Duration now) {
    return gpu_.Reading(At(now))->energy.millijoules.at(mailbox::PowerSource::kTotal);
  };
  const RunningCount before = energy(absl::Seconds(105));
  EXPECT_EQ(before.value, 7250u);
  Take("energy_0", "1", absl::Seconds(110), absl::Seconds(110));
  const RunningCount after = energy(absl::Seconds(110));
  EXPECT_GT(after.created, before.created);
  EXPECT_LE(after.value, 1000u);
}

TEST_F(GpuValuesTest, AListIsReplacedAsAWhole) {
  const BmcQuantity& row = Row("oem/nvidia/throttlereasons");
  const SampleTime time{.measured = absl::Seconds(100), .keep = absl::Seconds(15), .stamp = {}};
  gpu_.Take(row, 0, ParseSample(row, "SWPowerCap"), time, At(absl::Seconds(100)));
  gpu_.Take(row, 1, ParseSample(row, "SyncBoost"), time, At(absl::Seconds(100)));
  EXPECT_EQ(gpu_.Reading(At(absl::Seconds(100)))->clocks.throttle_active, 0b10001u);
  gpu_.DropList(row);
  gpu_.Take(row, 0, ParseSample(row, "NA"), time, At(absl::Seconds(101)));
  EXPECT_EQ(gpu_.Reading(At(absl::Seconds(101)))->clocks.throttle_active, 0u);
}

TEST_F(GpuValuesTest, AnotherGpuBeginsWithNothing) {
  Take("energy_0", "5.5", absl::Seconds(100), absl::Seconds(100));
  gpu_.Restart();
  EXPECT_TRUE(gpu_.Reading(At(absl::Seconds(100)))->samples.empty());
}

// Whatever comes: a count falls only with a later beginning, times of groups never go back and are never ahead, and a
// value that is shown was in an answer.
TEST(GpuValuesPropertyTest, HoldsForRandomAnswers) {
  std::mt19937 random(20261201);
  for (int round = 0; round < 50; ++round) {
    GpuValues gpu;
    RunningCount last;
    std::map<BoardGroup, absl::Duration> times;
    std::set<double> sent;
    for (int i = 0; i < 200; ++i) {
      const absl::Duration now = absl::Seconds(100 + 5 * i);
      const absl::Duration measured =
          now - absl::Milliseconds(static_cast<int64_t>(random() % 20'000)) + absl::Seconds(2);
      const std::string number = absl::StrCat(random() % 3 == 0 ? random() % 10 : 1000 + i);
      const SampleTime time{.measured = measured, .keep = absl::Seconds(30), .stamp = kBmcTime + measured};
      for (const char* const member : {"temp_0", "lifetime/correctableeccerrorcount"}) {
        const BmcQuantity& row = Row(member);
        const BmcParsed parsed = ParseSample(row, number);
        if (!parsed.omission) gpu.Take(row, {}, parsed, time, At(now));
        if (!parsed.omission && absl::string_view(member) == "temp_0") sent.insert(parsed.sample.number);
      }
      const auto reading = gpu.Reading(At(now));
      for (const auto& [group, sample] : reading->samples) {
        EXPECT_GE(sample.steady, times[group]);
        EXPECT_LE(sample.steady, now);
        times[group] = sample.steady;
      }
      if (const auto celsius = Find(reading->temperature.celsius, mailbox::TempSensor::kGpu0)) {
        EXPECT_TRUE(sent.contains(*celsius)) << *celsius;
      }
      if (const auto count = Find(reading->ecc.corrected, mailbox::EccMemory::kDram)) {
        EXPECT_TRUE(count->value >= last.value || count->created > last.created);
        last = *count;
      }
    }
  }
}

}  // namespace
}  // namespace sideband::daemon

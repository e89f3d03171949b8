// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/sensor_frame.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/time/time.h"

namespace sideband::daemon {
namespace {

using mailbox::PowerSource;

BoardReading Reading(double total_watts, uint64_t millijoules) {
  BoardReading reading;
  reading.power.watts = {{PowerSource::kTotal, total_watts}, {PowerSource::kMemory, 15}};
  reading.energy.millijoules[PowerSource::kTotal] = {.value = millijoules, .created = absl::FromUnixSeconds(7)};
  return reading;
}

SensorLayout LayoutOf(BoardGroup group, const std::vector<SensorSample>& samples) {
  SensorLayout layout{.group = group};
  for (const SensorSample& sample : samples) layout.series.push_back(sample.series);
  return layout;
}

std::vector<uint8_t> Encoded(const SensorFrame& before, const SensorFrame& now) {
  CountingSink size;
  now.Encode(before, size);
  std::vector<uint8_t> bytes(size.size());
  BoundedSink sink(bytes);
  now.Encode(before, sink);
  EXPECT_FALSE(sink.full());
  return bytes;
}

TEST(SensorFrameTest, EveryGaugeIsExact) {
  for (const double gauge :
       {0.0, -0.0, 1.0, -5.25, 77.9375, 285.193, 0.117421875, 1.0 / 25600, 99.99609375 / 100, 1.4e9, 85899345920.0,
        4.5e12, 1e300, -1e300, 1.0 / 3, std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(std::bit_cast<uint64_t>(GaugeOf(ValueOfGauge(gauge))), std::bit_cast<uint64_t>(gauge)) << gauge;
  }
}

TEST(SensorFrameTest, WhatBoardsReportIsAnInteger) {
  for (int raw = 0; raw <= 25'600; ++raw) {
    ASSERT_EQ(ValueOfGauge(raw / 256.0).form, ValueForm::kInteger) << raw << "/256 degrees";
    ASSERT_EQ(ValueOfGauge(raw / 1000.0).form, ValueForm::kInteger) << raw << " mW";
    ASSERT_EQ(ValueOfGauge(raw / 256.0 / 100).form, ValueForm::kInteger) << "a share of " << raw << "/256 %";
  }
  EXPECT_EQ(ValueOfGauge(1.0 / 3).form, ValueForm::kDouble);
}

TEST(SensorFrameTest, SamplesAreThoseOfTheGroup) {
  const auto samples = SamplesOf(Reading(250.5, 9'007'199'254'740'993), BoardGroup::kEnergy);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].series.family->name, "sideband_energy_joules_total");
  EXPECT_EQ(samples[0].series.count_per_unit, 1000u);
  EXPECT_EQ(samples[0].series.labels, (decltype(SensorSeries::labels){{"sensor", "total"}}));
  EXPECT_EQ(samples[0].value, (SensorValue{ValueForm::kInteger, 9'007'199'254'740'993, /*created_ns=*/7'000'000'000}));
  EXPECT_TRUE(SamplesOf({}, BoardGroup::kCapabilities).empty()) << "ages are not measured";
}

TEST(SensorFrameTest, PartitionsAreKnown) {
  BoardReading reading;
  reading.metrics.scopes[{}].ratios = {{mailbox::MetricId::kSmActivity, 0.5}};
  reading.metrics.scopes[{.partition = 2, .compute_instance = 1}].ratios = {{mailbox::MetricId::kSmActivity, 0.25}};
  const auto samples = SamplesOf(reading, BoardGroup::kMetrics);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].series.partition, std::nullopt);
  EXPECT_EQ(samples[1].series.partition, 2);
  EXPECT_EQ(samples[1].series.labels, (decltype(SensorSeries::labels){{"partition", "2"}, {"compute_instance", "1"}}));
}

TEST(SensorFrameTest, WhatIsWrittenIsRead) {
  const auto samples = SamplesOf(Reading(250.5, 0), BoardGroup::kPower);
  const SensorLayout layout = LayoutOf(BoardGroup::kPower, samples);
  const SensorFrame nothing(layout.series.size());
  const absl::Time time = absl::FromUnixNanos(1'800'000'000'123'456'789);
  const auto first = SensorFrame::Of(layout, samples, time, nothing);
  // The memory has no power now.
  const auto second = SensorFrame::Of(layout, std::span(samples).first(1), time - absl::Seconds(1), *first);
  ASSERT_TRUE(first && second);
  std::vector<uint8_t> bytes = Encoded(nothing, *first);
  const auto more = Encoded(*first, *second);
  EXPECT_LE(more.size(), 5u + 2 + 1 + 2) << "a time, and one difference between two runs";
  bytes.insert(bytes.end(), more.begin(), more.end());
  ByteSpan left = bytes;
  SensorFrame read(layout.series.size());
  ASSERT_TRUE(read.Decode(left));
  EXPECT_EQ(read.time(), time);
  EXPECT_EQ(read.Value(0), samples[0].value);
  EXPECT_EQ(read.Value(1), samples[1].value);
  ASSERT_TRUE(read.Decode(left));
  EXPECT_EQ(read.time(), time - absl::Seconds(1));
  EXPECT_EQ(read.Value(0), samples[0].value);
  EXPECT_EQ(read.Value(1).form, ValueForm::kAbsent);
  EXPECT_FALSE(read.Decode(left));
}

TEST(SensorFrameTest, EveryPrefixIsRefused) {
  const auto samples = SamplesOf(Reading(250.5, 0), BoardGroup::kPower);
  const SensorLayout layout = LayoutOf(BoardGroup::kPower, samples);
  const SensorFrame nothing(layout.series.size());
  const auto bytes = Encoded(nothing, *SensorFrame::Of(layout, samples, absl::FromUnixSeconds(9), nothing));
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteSpan prefix(bytes.data(), size);
    SensorFrame read(layout.series.size());
    EXPECT_FALSE(read.Decode(prefix)) << size;
  }
}

TEST(SensorFrameTest, ALayoutHasNoOtherSensors) {
  const auto samples = SamplesOf(Reading(250.5, 0), BoardGroup::kPower);
  SensorLayout layout = LayoutOf(BoardGroup::kPower, samples);
  layout.series.pop_back();
  EXPECT_FALSE(SensorFrame::Of(layout, samples, absl::UnixEpoch(), SensorFrame(1)).has_value());
}

}  // namespace

}  // namespace sideband::daemon

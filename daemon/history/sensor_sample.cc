// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/sensor_sample.h"

#include <bit>
#include <cmath>
#include <optional>

#include "absl/time/time.h"
#include "daemon/board/board_series.h"
#include "daemon/board/sensor_families.h"

namespace sideband::daemon {
namespace {

// What an allocation takes beside its bytes.
constexpr size_t kAllocation = 32;

size_t BytesOf(const std::string& text) {
  return text.capacity() < sizeof(std::string) ? 0 : text.capacity() + kAllocation;
}

constexpr double kUnitsPerOne = 128'000;
// A multiple of the unit up to here is an int64_t.
constexpr double kIntegerMax = 9e18;

class Sampler final : public BoardSeries {
 public:
  Sampler(const BoardSight& sight, std::vector<SensorSample>& out) : BoardSeries(sight), out_(out) {}

  void Take(const SensorFamily& family) {
    family_ = &family;
    family.write(*this);
  }

 protected:
  void TakeGauge(SensorLabels labels, double value) override { Add(labels).value = ValueOfGauge(value); }
  void TakePartitionGauge(uint8_t partition, SensorLabels labels, double value) override {
    SensorSample& sample = Add(labels);
    sample.series.partition = partition;
    sample.value = ValueOfGauge(value);
  }
  void TakeCount(SensorLabels labels, const RunningCount& count, uint32_t per_unit) override {
    SensorSample& sample = Add(labels);
    sample.series.count_per_unit = per_unit;
    sample.value = {.form = ValueForm::kInteger,
                    .word = count.value,
                    .created_ns = static_cast<uint64_t>(absl::ToUnixNanos(count.created))};
  }

 private:
  SensorSample& Add(SensorLabels labels) {
    SensorSample& sample = out_.emplace_back();
    sample.series.family = family_;
    sample.series.labels.reserve(labels.size());
    for (const auto& [name, value] : labels) sample.series.labels.emplace_back(name, value);
    return sample;
  }

  const SensorFamily* family_ = nullptr;
  std::vector<SensorSample>& out_;
};

}  // namespace

size_t SensorLayout::Footprint() const {
  size_t bytes = sizeof(SensorLayout) + 2 * kAllocation + series.capacity() * sizeof(SensorSeries);
  for (const SensorSeries& one : series) {
    bytes += kAllocation + one.labels.capacity() * sizeof(one.labels[0]);
    for (const auto& [name, value] : one.labels) bytes += BytesOf(name) + BytesOf(value);
  }
  return bytes;
}

SensorValue ValueOfGauge(double gauge) {
  const double scaled = gauge * kUnitsPerOne;
  // Also false for NaN.
  if (std::abs(scaled) < kIntegerMax) {
    const auto integer = static_cast<uint64_t>(static_cast<int64_t>(std::round(scaled)));
    const SensorValue value = {.form = ValueForm::kInteger, .word = integer};
    // By its bits: -0.0 equals the integer's 0.0.
    if (std::bit_cast<uint64_t>(GaugeOf(value)) == std::bit_cast<uint64_t>(gauge)) return value;
  }
  return {.form = ValueForm::kDouble, .word = std::bit_cast<uint64_t>(gauge)};
}

double GaugeOf(const SensorValue& value) {
  if (value.form == ValueForm::kDouble) return std::bit_cast<double>(value.word);
  return static_cast<double>(static_cast<int64_t>(value.word)) / kUnitsPerOne;
}

std::vector<SensorSample> SamplesOf(const BoardReading& reading, BoardGroup group) {
  const BoardPart whole = BoardPart::Whole();
  const BoardSight sight = {reading, whole, absl::ZeroDuration()};
  std::vector<SensorSample> samples;
  Sampler sampler(sight, samples);
  for (const SensorFamily& family : SensorFamilies()) {
    if (family.group == group && family.name != kSampleAges) sampler.Take(family);
  }
  return samples;
}

}  // namespace sideband::daemon

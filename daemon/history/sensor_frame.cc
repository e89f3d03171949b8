// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/sensor_frame.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "absl/time/time.h"
#include "daemon/board/sensor_families.h"

namespace sideband::daemon {
namespace {

// The overhead of an allocation, in bytes.
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

// The two allocations and the reference counts.
constexpr size_t kOverhead = 96;

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
    if (family.GroupIn(reading) == group && family.name != kSampleAges) sampler.Take(family);
  }
  return samples;
}

std::optional<SensorFrame> SensorFrame::Of(const SensorLayout& layout, std::span<const SensorSample> samples,
                                           absl::Time time, const SensorFrame& before) {
  SensorFrame now = before;
  now.time_ns_ = static_cast<uint64_t>(absl::ToUnixNanos(time));
  std::fill_n(now.numbers_.begin(), now.series_, static_cast<uint64_t>(ValueForm::kAbsent));
  // Both are in the same order, so one pass finds all.
  size_t at = 0;
  for (const SensorSample& sample : samples) {
    while (at < layout.series.size() && layout.series[at] != sample.series) ++at;
    if (at == layout.series.size()) return std::nullopt;
    now.Set(at++, sample.value);
  }
  return now;
}

SensorValue SensorFrame::Value(size_t series) const {
  return {.form = static_cast<ValueForm>(numbers_[series]),
          .word = numbers_[2 * series_ + series],
          .created_ns = numbers_[series_ + series]};
}

void SensorFrame::Set(size_t series, const SensorValue& value) {
  numbers_[series] = static_cast<uint64_t>(value.form);
  numbers_[series_ + series] = value.created_ns;
  numbers_[2 * series_ + series] = value.word;
}

bool SensorFrame::Decode(ByteSpan& bytes) {
  uint64_t difference;
  if (!ReadVarint(bytes, difference)) return false;
  time_ns_ += UnZigZag(difference);
  return AddTokens(bytes, numbers_);
}

void SensorChunkView::Add(absl::Time time, size_t new_size, uint64_t place) {
  size = new_size;
  ++frames;
  newest = place;
  first = std::min(first, time);
  last = std::max(last, time);
}

size_t SensorChunkView::Footprint(size_t capacity) {
  // The vector of views may have grown to twice its size.
  return sizeof(SensorChunk) + 2 * sizeof(SensorChunkView) + kOverhead + capacity;
}

SensorChunkReader::SensorChunkReader(SensorChunkView view)
    : view_(std::move(view)), left_(view_.written()), frame_(view_.layout().series.size()) {}

bool SensorChunkReader::Next() {
  if (read_ == view_.frames || !frame_.Decode(left_)) return false;
  ++read_;
  return true;
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/event_estimate.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sideband::mcu {
namespace {

constexpr int kFractionBits = 16;
constexpr double kNormalQuantile = 1.96;

// The number that is shown has 64 bits.
constexpr absl::uint128 kSumMax = absl::uint128(std::numeric_limits<uint64_t>::max()) << kFractionBits;

// The product has up to 128 bits: it is divided before it is shifted.
absl::uint128 Scale(uint64_t count, uint64_t enabled, uint64_t running) {
  const absl::uint128 product = absl::uint128(count) * enabled;
  const absl::uint128 whole = product / running, rest = product % running;
  if (whole > kSumMax >> kFractionBits) return kSumMax;
  return (whole << kFractionBits) + (rest << kFractionBits) / running;
}

}  // namespace

double StudentFactor(uint64_t degrees_of_freedom) {
  static constexpr std::array<double, 30> kQuantiles = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
      2.120,  2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees_of_freedom > kQuantiles.size()) return 1;
  return kQuantiles[std::max<uint64_t>(degrees_of_freedom, 1) - 1] / kNormalQuantile;
}

void EventEstimate::AddSlot(uint64_t count, uint64_t running) {
  epoch_count_ += count;
  const double counts = static_cast<double>(count);
  count_squares_ += counts * counts;
  products_ += counts * static_cast<double>(running);
}

absl::uint128 EventEstimate::OfEpoch(const SlotTimes& epoch, const ClosedTimes& closed) const {
  if (epoch.running > 0) return Scale(epoch_count_, epoch.enabled, epoch.running);
  return closed.running > 0 ? Scale(counted_, epoch.enabled, closed.running) : 0;
}

void EventEstimate::Evaluate(const SlotTimes& open, const ClosedTimes& closed) {
  highest_ = std::max(highest_, absl::Uint128Low64(std::min(Sum(open, closed), kSumMax) >> kFractionBits));
}

// The variance of a slot's residual: what it counted less what its length makes expect.
double EventEstimate::SlotVariance(const SlotTimes& epoch) const {
  const double rate = static_cast<double>(epoch_count_) / static_cast<double>(epoch.running);
  const double residuals = count_squares_ - 2 * rate * products_ + rate * rate * epoch.squares;
  return std::max(residuals, 0.0) / static_cast<double>(epoch.slots - 1);
}

double EventEstimate::SlotSpread(const SlotTimes& open) const {
  if (open.slots < 2 || open.running == 0 || epoch_count_ == 0) return 0;
  const double mean = static_cast<double>(epoch_count_) / static_cast<double>(open.slots);
  return SlotVariance(open) / (mean * mean);
}

// The variance of a ratio of sums, by the residuals of its slots.
double EventEstimate::VarianceOfEpoch(const SlotTimes& epoch) const {
  if (epoch.slots < 2 || epoch.running == 0) return -1;
  const double slots = static_cast<double>(epoch.slots), running = static_cast<double>(epoch.running);
  const double enabled = static_cast<double>(epoch.enabled);
  const double spread = SlotVariance(epoch);
  const double scale = enabled / running, student = StudentFactor(epoch.slots - 1);
  return scale * scale * slots * spread * (1 - running / enabled) * student * student;
}

double EventEstimate::Variance(const SlotTimes& open) const {
  const double of_open = VarianceOfEpoch(open);
  if (of_open < 0) return closed_variance_;
  return std::max(closed_variance_, 0.0) + of_open;
}

void EventEstimate::Close(const SlotTimes& epoch, const ClosedTimes& closed) {
  closed_ = std::min(closed_ + OfEpoch(epoch, closed), kSumMax);
  closed_variance_ = Variance(epoch);
  counted_ += epoch_count_;
  epoch_count_ = 0;
  count_squares_ = products_ = 0;
}

}  // namespace sideband::mcu

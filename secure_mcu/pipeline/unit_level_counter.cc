// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/unit_level_counter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"

namespace sideband::mcu {
namespace {

constexpr uint32_t kFramingBits = 2;  // start and end bit
// A run of fewer wires on average costs as much as its wires one by one.
constexpr size_t kRunWiresMin = 3;

absl::Status CheckDigits(const UnitLevelCounter::Config& config) {
  if (config.digits.empty()) return absl::OkStatus();
  size_t wires = 0;
  for (const uint8_t digits : config.digits) {
    const absl::Status status = CheckRange("digits of a prescaled counter", digits, 0, kPrescaledDigitsMax);
    if (!status.ok()) return status;
    wires += std::max<size_t>(1, digits);
  }
  if (wires == config.wires.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the counters have ", wires, " wires, ", config.wires.size(), " are given"));
}

}  // namespace

absl::Status UnitLevelCounter::Validate(const Config& config) {
  for (const absl::Status& status : {
           CheckRange("number of counters", config.counters(), 1, kUlcCountersMax),
           CheckDigits(config),
           CheckRange("counter_bits", config.counter_bits, 1, kUlcCounterBitsMax),
           CheckRange("lanes", config.lanes, 1, kUlcLanesMax),
       }) {
    if (!status.ok()) return status;
  }
  // Its upper bound depends on counter_bits, which is valid here.
  const absl::Status period = CheckRange("period", config.period, 1, (1u << config.counter_bits) - 1);
  if (!period.ok()) return period;
  if (SerialCycles(config) <= config.period) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the serialiser cannot finish in a period: (", kFramingBits, " + ",
                                                 config.counters(), " counters x ", config.counter_bits, " bits) / ",
                                                 config.lanes, " lanes = ", SerialCycles(config), " cycles > period ",
                                                 config.period));
}

uint32_t UnitLevelCounter::FrameBits(const Config& config) {
  return kFramingBits + static_cast<uint32_t>(config.counters()) * config.counter_bits;
}

uint32_t UnitLevelCounter::SerialCycles(const Config& config) {
  return (FrameBits(config) + config.lanes - 1) / config.lanes;
}

UnitLevelCounter::UnitLevelCounter(Config config) : period_(config.period), serial_cycles_(SerialCycles(config)) {
  Connect({.wires = std::move(config.wires), .digits = std::move(config.digits), .ids = {}});
}

std::vector<UnitLevelCounter::Run> UnitLevelCounter::RunsOf(const std::vector<sim::WireId>& wires) {
  std::vector<Run> runs;
  for (const sim::WireId wire : wires) {
    if (!runs.empty() && wire == runs.back().first + runs.back().size) {
      ++runs.back().size;
    } else {
      runs.push_back({.first = wire, .size = 1});
    }
  }
  const bool is_one = runs.size() == 1;
  if (!is_one && wires.size() < kRunWiresMin * runs.size()) runs.clear();
  return runs;
}

void UnitLevelCounter::Connect(Sources sources) {
  const auto numbered = [this] { return std::min(sources_.ids.size(), accumulators_.size()); };
  for (size_t i = 0; i < numbered(); ++i) remainders_[sources_.ids[i]] = accumulators_[i];
  sources_ = std::move(sources);
  runs_ = RunsOf(sources_.wires);
  accumulators_.assign(sources_.digits.size(), 0);
  wire_counts_.assign(sources_.digits.empty() ? 0 : sources_.wires.size(), 0);
  for (size_t i = 0; i < numbered(); ++i) accumulators_[i] = remainders_[sources_.ids[i]];
}

void UnitLevelCounter::Enable(uint64_t cycle) {
  enabled_ = true;
  now_ = period_origin_ = delivered_ = cycle;
  std::fill(accumulators_.begin(), accumulators_.end(), 0);
  remainders_.clear();
}

// The end of the last period whose frame has arrived completely at the collection unit. A frame takes at most a period,
// so it arrives before the next one is sent.
uint64_t UnitLevelCounter::Arrived() const {
  // Not even the first frame of the current periods has arrived; the subtraction below would wrap.
  if (now_ < period_origin_ + serial_cycles_) return delivered_;
  const uint64_t periods = (now_ - serial_cycles_ - period_origin_) / period_;
  return std::max(delivered_, period_origin_ + periods * period_);
}

void UnitLevelCounter::AddCounts(sim::CycleRange range, const sim::WireSource& wires, std::span<uint64_t> sums) const {
  if (runs_.empty()) return wires.AddCounts(range, sources_.wires, sums.first(sources_.wires.size()));
  for (const Run& run : runs_) {
    wires.AddConsecutiveCounts(range, run.first, sums.first(run.size));
    sums = sums.subspan(run.size);
  }
}

void UnitLevelCounter::AddPrescaled(sim::CycleRange range, const sim::WireSource& wires,
                                    std::span<uint64_t> accumulators, std::span<uint64_t> wire_counts,
                                    std::span<uint64_t> delivered) const {
  std::fill(wire_counts.begin(), wire_counts.end(), 0);
  AddCounts(range, wires, wire_counts);
  const uint64_t* count = wire_counts.data();
  for (size_t i = 0; i < sources_.digits.size(); ++i) {
    if (sources_.digits[i] == 0) {
      delivered[i] += *count++;
      continue;
    }
    // Dividing the sum of a range gives the same gain as subtracting 32 cycle by cycle.
    for (uint8_t digit = 0; digit < sources_.digits[i]; ++digit) accumulators[i] += *count++ << digit;
    delivered[i] += accumulators[i] / kPrescale;
    accumulators[i] %= kPrescale;
  }
}

bool UnitLevelCounter::DeliverUntil(uint64_t cycle, const sim::WireSource& wires, std::span<uint64_t> delivered) {
  if (cycle == delivered_) return false;
  const sim::CycleRange range{delivered_, cycle};
  delivered_ = cycle;
  if (sources_.digits.empty()) {
    AddCounts(range, wires, delivered);
  } else {
    AddPrescaled(range, wires, accumulators_, wire_counts_, delivered);
  }
  return true;
}

bool UnitLevelCounter::AdvanceTo(uint64_t cycle, const sim::WireSource& wires, std::span<uint64_t> delivered) {
  if (!enabled_ || cycle <= now_) return false;
  now_ = cycle;
  return DeliverUntil(Arrived(), wires, delivered);
}

void UnitLevelCounter::TakeHeld(const sim::WireSource& wires, std::span<uint64_t> delivered) {
  if (!enabled_) return;
  DeliverUntil(now_, wires, delivered);
  period_origin_ = now_;
}

void UnitLevelCounter::AddHeld(const sim::WireSource& wires, std::span<uint64_t> sums) const {
  if (!enabled_ || delivered_ == now_) return;
  const sim::CycleRange range{delivered_, now_};
  if (sources_.digits.empty()) return AddCounts(range, wires, sums);
  std::vector<uint64_t> accumulators = accumulators_, wire_counts(wire_counts_.size());
  AddPrescaled(range, wires, accumulators, wire_counts, sums);
}

}  // namespace sideband::mcu

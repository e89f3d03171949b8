// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/unit_level_counter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sideband::mcu {
namespace {

constexpr uint32_t kLanesMax = 512;
constexpr uint32_t kFramingBits = 2;  // start and end

absl::Status CheckRange(absl::string_view what, uint64_t value, uint64_t low, uint64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is ", value, ", must be from ", low, " to ", high));
}

uint32_t FrameBits(const UnitLevelCounter::Config& config) {
  return kFramingBits + static_cast<uint32_t>(config.wires.size()) * config.counter_bits;
}

// Adds `from` to `to` and clears it.
void Move(std::span<uint64_t> from, std::span<uint64_t> to) {
  for (size_t i = 0; i < from.size(); ++i) to[i] += std::exchange(from[i], 0);
}

}  // namespace

absl::Status UnitLevelCounter::Validate(const Config& config) {
  for (const absl::Status& status : {
           CheckRange("number of counters", config.wires.size(), 1, kUlcCountersMax),
           CheckRange("counter_bits", config.counter_bits, 1, kUlcCounterBitsMax),
           CheckRange("lanes", config.lanes, 1, kLanesMax),
       }) {
    if (!status.ok()) return status;
  }
  const absl::Status period = CheckRange("period", config.period, 1, (1u << config.counter_bits) - 1);
  if (!period.ok()) return period;
  if (SerialCycles(config) <= config.period) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the serialiser cannot finish in a period: (", kFramingBits, " + ",
                                                 config.wires.size(), " counters x ", config.counter_bits, " bits) / ",
                                                 config.lanes, " lanes = ", SerialCycles(config), " cycles > period ",
                                                 config.period));
}

uint32_t UnitLevelCounter::SerialCycles(const Config& config) {
  return (FrameBits(config) + config.lanes - 1) / config.lanes;
}

UnitLevelCounter::UnitLevelCounter(Config config)
    : config_(std::move(config)),
      serial_cycles_(SerialCycles(config_)),
      live_(config_.wires.size()),
      serial_(config_.wires.size()) {}

void UnitLevelCounter::Enable(uint64_t cycle) {
  Disable();
  enabled_ = true;
  now_ = period_start_ = cycle;
}

void UnitLevelCounter::Disable() {
  enabled_ = false;
  in_flight_ = false;
  std::fill(live_.begin(), live_.end(), 0);
  std::fill(serial_.begin(), serial_.end(), 0);
}

void UnitLevelCounter::Count(uint64_t until, const sim::WireSource& wires, std::span<uint64_t> sums) {
  if (until > now_) wires.AddCounts({now_, until}, config_.wires, sums);
  now_ = until;
}

void UnitLevelCounter::DeliverArrived(std::span<uint64_t> delivered) {
  if (!in_flight_ || arrival_ > now_) return;
  Move(serial_, delivered);
  in_flight_ = false;
}

void UnitLevelCounter::AdvanceTo(uint64_t cycle, const sim::WireSource& wires, std::span<uint64_t> delivered) {
  if (!enabled_ || cycle <= now_) return;
  const uint64_t periods_ended = (cycle - period_start_) / config_.period;
  if (periods_ended > 0) {
    // All frames but the last have been sent within a period after their snapshot, thus before the last snapshot, so
    // they are counted together and need no serialiser. The frame before the first of them has arrived as well.
    const uint64_t last_start = period_start_ + (periods_ended - 1) * config_.period;
    if (periods_ended > 1) {
      Count(last_start, wires, live_);
      Move(serial_, delivered);
      Move(live_, delivered);
      in_flight_ = false;
    }
    Count(last_start + config_.period, wires, live_);
    DeliverArrived(delivered);
    Move(live_, serial_);
    in_flight_ = true;
    period_start_ = last_start + config_.period;
    arrival_ = period_start_ + serial_cycles_;
  }
  Count(cycle, wires, live_);
  DeliverArrived(delivered);
}

void UnitLevelCounter::TakeHeld(std::span<uint64_t> delivered) {
  Move(serial_, delivered);
  Move(live_, delivered);
  in_flight_ = false;
  period_start_ = now_;
}

}  // namespace sideband::mcu

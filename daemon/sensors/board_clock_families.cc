// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iterator>

#include "daemon/sensors/sensor_families.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardClock;
using mailbox::ThrottleReason;
using mailbox::Violation;

constexpr double kMega = 1e6;

constexpr BoardWord<BoardClock> kClockWords[] = {{BoardClock::kGraphics, "graphics"}, {BoardClock::kMemory, "memory"}};

constexpr BoardWord<ThrottleReason> kReasonWords[] = {
    {ThrottleReason::kSoftwarePowerCap, "software_power_cap"},
    {ThrottleReason::kHardwareSlowdown, "hardware_slowdown"},
    {ThrottleReason::kHardwareThermal, "hardware_thermal"},
    {ThrottleReason::kHardwarePowerBrake, "hardware_power_brake"},
    {ThrottleReason::kSyncBoost, "sync_boost"},
    {ThrottleReason::kSoftwareThermal, "software_thermal"},
};
static_assert(std::size(kReasonWords) == std::size(mailbox::kThrottleReasons));

constexpr BoardWord<Violation> kViolationWords[] = {
    {Violation::kHardware, "hardware"},
    {Violation::kSoftware, "software"},
    {Violation::kSoftwarePower, "software_power"},
    {Violation::kSoftwareThermal, "software_thermal"},
};
static_assert(std::size(kViolationWords) == mailbox::kViolationCount);

void WriteClock(BoardSeries& out) {
  const BoardReading& reading = out.reading();
  for (const auto& [clock, word] : kClockWords) {
    out.Gauge({{"clock", word}, {"kind", "current"}}, Find(reading.clocks.current_mhz, clock), kMega);
    out.Gauge({{"clock", word}, {"kind", "minimum"}}, Find(reading.clock_limits.minimum_mhz, clock), kMega);
    out.Gauge({{"clock", word}, {"kind", "maximum"}}, Find(reading.clock_limits.maximum_mhz, clock), kMega);
  }
}

void WritePerformanceState(BoardSeries& out) { out.Gauge({}, out.reading().clocks.performance_state); }

void WriteThrottle(BoardSeries& out) {
  const auto& active = out.reading().clocks.throttle_active;
  if (!active) return;
  // A reason that is active is shown even if the board does not list it.
  const uint32_t shown = out.reading().clock_limits.throttle_supported.value_or(0) | *active;
  for (const auto& [reason, word] : kReasonWords) {
    const uint32_t mask = mailbox::MaskOf(reason);
    if ((shown & mask) != 0) out.Gauge({{"reason", word}}, (*active & mask) != 0);
  }
}

void WriteViolation(BoardSeries& out) {
  for (const auto& [violation, word] : kViolationWords) {
    out.Count({{"kind", word}}, Find(out.reading().violations.counts, violation));
  }
}

constexpr BoardFamilyRow kClockFamilies[] = {
    {"sideband_clock_hertz", MetricType::kGauge, BoardGroup::kClocks,
     "Frequency of a clock of the board, and its range.", WriteClock},
    {"sideband_performance_state", MetricType::kGauge, BoardGroup::kClocks,
     "Performance state of the board: 0 is the fastest.", WritePerformanceState},
    {"sideband_throttle_active", MetricType::kGauge, BoardGroup::kClocks,
     "1 if the board slows its clocks down for this reason, else 0.", WriteThrottle},
    {"sideband_violation_total", MetricType::kCounter, BoardGroup::kViolations,
     "How long or how often a limit kept the board from its full speed, in a unit that is not public.", WriteViolation},
};

}  // namespace

std::span<const BoardFamilyRow> BoardClockFamilies() { return kClockFamilies; }

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
//
// Where on the host's clock a device's reference clock is: a fit over many latches, whose bound is far closer than one
// exchange with the device (clocks.md, 5.6).
//   HostClock host;
//   const HostInstant at = host.Add({.boot_id = 1, .reference_time_ns = 1000, .raw_before = s0, .raw_after = s1});
//   Publish(at.raw, at.error);
#ifndef SIDEBAND_DAEMON_COLLECTOR_HOST_CLOCK_H_
#define SIDEBAND_DAEMON_COLLECTOR_HOST_CLOCK_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "daemon/snapshot/device_clock.h"
#include "proto/clocks/clock_strip.h"

namespace sideband::daemon {

// A latch, which the device has made between two readings of the host's raw clock (Clock::Raw).
struct BracketedLatch {
  uint64_t boot_id = 0;
  uint64_t reference_time_ns = 0;
  absl::Duration raw_before, raw_after;
  absl::Duration suspended;  // as of Clock::Suspended
};

// The host counts as suspended from this on: Clock::Suspended is the difference of two readings that are not of one
// instant.
inline constexpr absl::Duration kSuspendMin = absl::Milliseconds(10);

// The latch by the raw clock, with an error to either side.
struct HostInstant {
  absl::Duration raw;
  absl::Duration error;
};

// The host's clock at the latches of one device. Not thread-safe.
class HostClock {
 public:
  explicit HostClock(const ClockSettings& settings = {}) : settings_(settings) {}

  // Begins anew if the clock's limits, or its longest segment, are others.
  void Use(const ClockSettings& settings);

  // Never further off than the exchange itself. The exchange is all there is until the latches have shown that the
  // clock is within the settings, where they contradict them, and after the host was suspended.
  HostInstant Add(const BracketedLatch& latch);
  // False once the clocks contradict the settings, until the latches have shown that they do no longer.
  bool is_sound() const { return !is_refuted_; }
  // The rate that the settings allow, unless the clocks contradict them. nullopt with less than two latches.
  std::optional<ReferenceRate> Rate() const;
  // By which the two clocks' rates differ at most.
  double ppm_max() const;

 private:
  // kUnusable: the exchange was too long for a fit.
  enum class Fit : uint8_t { kUsed, kUnusable, kContradicts };

  void StartAnew(uint64_t boot_id);
  Fit AddToStrip(const BracketedLatch& latch);
  void MeasureRate(const BracketedLatch& latch);
  void MeasureFrom(const BracketedLatch& latch);
  void JudgeRate(const BracketedLatch& latch, bool contradicts);
  bool IsBeyond(const std::optional<ReferenceRate>& rate) const;
  std::optional<ReferenceRate> FittedRate() const;

  ClockSettings settings_;
  std::optional<clocks::ClockStrip> strip_;
  uint64_t boot_id_ = 0;
  uint64_t latches_ = 0;
  absl::Duration suspended_;
  // The mean rate since `first_`, without the settings; the next one is measured from `middle_`.
  std::optional<BracketedLatch> first_, middle_;
  std::optional<ReferenceRate> mean_;
  bool is_shown_ = false;    // that the clock is within the settings
  bool is_refuted_ = false;  // likewise, that it is not
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_HOST_CLOCK_H_

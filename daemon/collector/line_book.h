// SPDX-License-Identifier: Apache-2.0
//
// How far apart the reference clocks of devices on one trigger line are: a pulse is the same instant on all of them,
// but for the wire's delay. Each device's snapshots tell its newest pulse; which pulses are the same one follows from
// where the host's clock has them. (docs/design/clocks.md, "Trigger lines")
//   LineBook book;
//   snapshot->line_offset = book.Note("gpu1", info.clocks, latch);       // after each snapshot of gpu1
#ifndef SIDEBAND_DAEMON_COLLECTOR_LINE_BOOK_H_
#define SIDEBAND_DAEMON_COLLECTOR_LINE_BOOK_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/collector/device_clocks.h"
#include "daemon/snapshot/device_clock.h"
#include "proto/mailbox/clocks.h"

namespace sideband::daemon {

// A device's latch, and the newest pulse before it.
struct LatchedPulse {
  uint64_t boot_id = 0;
  uint64_t reference_hz = 0;
  uint64_t reference_time_ns = 0;  // of the latch
  HostInstant latched;             // the same by the host's raw clock
  bool is_sound = true;            // the reference clock is within its limits, as far as is known
  absl::Duration suspended;        // as of Clock::Suspended, then
  std::optional<mailbox::LinePulse> pulse;
};

// Thread-safe. What devices report is hostile: two pulses are taken to be one only where nothing else is possible.
class LineBook {
 public:
  // An offset is shown for so long after its pulse, and devices that have not reported for so long are forgotten.
  static constexpr absl::Duration kFreshFor = absl::Minutes(1);

  // After a snapshot of the device. nullopt: it is on no line, it has sent the newest pulse itself, or nothing is
  // known.
  std::optional<LineOffset> Note(const std::string& device, const ClockSettings& settings, const LatchedPulse& latch);

 private:
  // By the host's raw clock.
  struct Interval {
    absl::Duration low, high;
    bool Overlaps(const Interval& other) const { return low <= other.high && other.low <= high; }
  };
  struct Pulse {
    uint64_t number = 0;  // on the line, as the device counts
    bool is_own = false;
    uint64_t time_ns = 0;  // of the reference clock, rounded down
    Interval at;           // when it was sent or seen
  };
  struct Pair {
    std::string driver;
    uint64_t driver_boot_id = 0;
    uint64_t number = 0;  // of the pulse, as this device counts
    absl::Duration seen;  // by the host's raw clock, about
    uint64_t driver_time_ns = 0;
    // This clock's time less the driver's.
    int64_t offset_low_ns = 0, offset_high_ns = 0;
  };
  // From the instant of a pulse to the end of the cycle that has seen it, by the device's clock.
  struct Delay {
    int64_t min_ns = 0, max_ns = 0;
    bool operator==(const Delay&) const = default;
  };
  struct Device {
    std::string line;
    uint64_t boot_id = 0;
    Delay delay;
    // No pulse that it has sent or seen between the first of these and `known_to` is missing.
    std::deque<Pulse> pulses;
    absl::Duration known_to;
    std::optional<Pair> pair;
    std::optional<ReferenceRate> rate;  // between the newest two
  };

  static Delay DelayOf(const ClockSettings& settings, uint64_t reference_hz);
  static void AddPulse(const LatchedPulse& latch, double ppm_max, Device& device);
  // When a pulse was sent that the receiver has seen.
  static Interval SentAt(const Pulse& seen, const Delay& delay);
  // Whether the device has reported all that it has sent, and seen of others' pulses, by the end of `at`.
  static bool IsKnown(const Interval& at, const Device& device);
  // The only pulse on the device's line that may have been sent then, if the device has sent it; nullptr where there
  // are several, and where some may be unknown.
  static const Pulse* OnlyPulseAt(const Interval& at, const Device& device);
  // That device; "" where it is not known.
  std::string SenderOf(const Interval& at, const std::string& receiver, const TriggerLineSettings& line) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Joins the pulse that a device has received to its sender's.
  void Join(const Pulse& pulse, const std::string& sender, Device& device) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<LineOffset> OffsetOf(const Device& device, absl::Duration raw) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Forgets devices that are gone, and everything once the host was suspended: its raw clock stood still.
  void Forget(const LatchedPulse& latch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  std::map<std::string, Device> devices_ ABSL_GUARDED_BY(mu_);
  absl::Duration suspended_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_LINE_BOOK_H_

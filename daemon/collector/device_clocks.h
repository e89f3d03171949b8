// SPDX-License-Identifier: Apache-2.0
//
// The clocks of devices, by fits over many snapshots. DeviceClocks follows the clocks of a device's domains: one
// reading of each is enough for bounds that hold between them (proto/clocks). HostClock tells where its reference clock
// is on the host's clock, with a bound far closer than one exchange with the device (clocks.md, 5.6). LineBook tells
// how far apart the reference clocks of devices on one trigger line are.
//   DeviceClocks clocks;
//   snapshot->clocks = clocks.Follow(topology, raw, {.segment_max = info.clocks.segment_max, .hulls = std::nullopt});
//   HostClock host;
//   const HostInstant at = host.Add({.boot_id = 1, .reference_time_ns = 1000, .raw_before = s0, .raw_after = s1});
//   Publish(at.raw, at.error);
//   LineBook book;
//   snapshot->line_offset = book.Note("gpu1", info.clocks, latch);       // after each snapshot of gpu1
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_CLOCKS_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_CLOCKS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/snapshot/device_info.h"
#include "daemon/snapshot/topology.h"
#include "proto/clocks/clock_strip.h"
#include "proto/clocks/mailbox_clocks.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// The clocks of one device; bounded memory. Not thread-safe.
class DeviceClocks {
 public:
  struct Inputs {
    absl::Duration segment_max = ClockSettings().segment_max;
    // The snapshot was latched then, or later, by the host's clock.
    absl::Time latched_after = absl::UnixEpoch();
    // The device's own fits, which have all triggers of its grid; none: it has no grid, or could not be asked.
    std::optional<mailbox::ClockHulls> hulls;
  };
  // One for each domain of the topology, which is the one that is published; none if the snapshot has no readings.
  // Readings and hulls are hostile: one that contradicts what is known is counted, and nothing else is lost.
  std::vector<ClockState> Follow(const Topology& topology, const mailbox::Snapshot& snapshot, const Inputs& inputs);

  // Whether the device's clocks are withheld, so that no more need be read of them.
  bool is_withheld() const { return is_withheld_; }

 private:
  struct Domain {
    mailbox::ClockDomain declared;
    std::optional<clocks::ClockStrip> strip;  // none: the device declares nothing possible
    clocks::PacketNumbers numbers;
    bool has_changed = false;            // as readings say that were not used
    uint64_t edge = 0, edge_before = 0;  // of the newest reading and the one before
    uint64_t unused = 0;
  };
  void StartAnew(const mailbox::Catalog& catalog, uint64_t boot_id, const Inputs& inputs);
  bool IsSame(const mailbox::Catalog& catalog, uint64_t boot_id, absl::Duration segment_max) const;
  void Add(const mailbox::Snapshot& snapshot, const mailbox::ClockReading& reading, Domain& domain) const;
  ClockState StateOf(const Domain& domain, bool is_stopped) const;
  // Narrows a state by what is known by a fit.
  void Show(const clocks::ClockStrip& strip, ClockState& state) const;
  void Narrow(const mailbox::ClockHull& hull, Domain& domain, ClockState& state) const;

  uint64_t boot_id_ = 0;
  uint64_t reference_hz_ = 0;
  absl::Duration segment_max_;
  absl::Time created_;  // of the domains' counts
  std::vector<Domain> domains_;
  // A frequency follows the load of all VMs on the device.
  bool is_withheld_ = false;
};

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

  // Starts again if the clock's limits, or its longest segment, are others.
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

// How far apart the reference clocks of devices on one trigger line are: a pulse is the same instant on all of them,
// but for the wire's delay. Each device's snapshots tell its newest pulse; the host's clock tells which pulses are the
// same one. (docs/design/clocks.md, "Trigger lines")
//
// Thread-safe. Devices' reports are hostile: two pulses are taken to be one only where nothing else is possible.
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

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_CLOCKS_H_

// SPDX-License-Identifier: Apache-2.0
//
// The clocks of one device, by fits over many snapshots. DeviceClocks follows the clocks of its domains: one reading of
// each is enough for bounds that hold between them (proto/clocks). HostClock tells where its reference clock is on the
// host's clock, with a bound far closer than one exchange with the device (clocks.md, 5.6).
//   DeviceClocks clocks;
//   snapshot->clocks = clocks.Follow(topology, raw, {.segment_max = info.clocks.segment_max, .hulls = std::nullopt});
//   HostClock host;
//   const HostInstant at = host.Add({.boot_id = 1, .reference_time_ns = 1000, .raw_before = s0, .raw_after = s1});
//   Publish(at.raw, at.error);
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_CLOCKS_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_CLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "daemon/snapshot/device_clock.h"
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

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_CLOCKS_H_

// SPDX-License-Identifier: Apache-2.0
//
// Follows the clocks of a device's domains from snapshot to snapshot: one reading of each is enough for bounds that
// hold between them (proto/clocks).
//   DeviceClocks clocks;
//   snapshot->clocks = clocks.Follow(topology, raw, {.segment_max = info.clocks.segment_max, .hulls = std::nullopt});
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
  // A frequency follows the load of everybody on the device.
  bool is_withheld_ = false;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_CLOCKS_H_

// SPDX-License-Identifier: Apache-2.0
//
// Follows the clocks of a device's domains from snapshot to snapshot: one reading of each is enough for bounds that
// hold between them (proto/clocks).
//   DeviceClocks clocks;
//   snapshot->clocks = clocks.Follow(topology, raw);
#ifndef SIDEBAND_DAEMON_CLOCKS_DEVICE_CLOCKS_H_
#define SIDEBAND_DAEMON_CLOCKS_DEVICE_CLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "daemon/snapshot/clock_state.h"
#include "daemon/snapshot/topology.h"
#include "proto/clocks/clock_strip.h"
#include "proto/clocks/mailbox_clocks.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Segments of a clock that does not change are so long at most.
inline constexpr absl::Duration kClockSegmentMax = absl::Seconds(30);

// Of one device; bounded memory. Not thread-safe.
class DeviceClocks {
 public:
  // One for each domain of the topology, which is the one that is published; none if the snapshot has no readings.
  // Readings are hostile: one that contradicts what is known is counted, and nothing else is lost.
  std::vector<ClockState> Follow(const Topology& topology, const mailbox::Snapshot& snapshot);

 private:
  struct Domain {
    mailbox::ClockDomain declared;
    std::optional<clocks::ClockStrip> strip;  // none: the device declares nothing possible
    clocks::PacketNumbers numbers;
    bool has_changed = false;  // as readings tell that were not used
    uint64_t unused = 0;
  };
  void StartAnew(const mailbox::Catalog& catalog, uint64_t boot_id);
  void Add(const mailbox::Snapshot& snapshot, const mailbox::ClockReading& reading, Domain& domain) const;
  ClockState StateOf(const Domain& domain, bool is_stopped) const;

  uint64_t boot_id_ = 0;
  uint64_t reference_hz_ = 0;
  std::vector<Domain> domains_;
  // A frequency follows the load of everybody on the device.
  bool is_withheld_ = false;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CLOCKS_DEVICE_CLOCKS_H_

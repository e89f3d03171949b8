// SPDX-License-Identifier: Apache-2.0
//
// Gives a device the grid of triggers of the configuration, on the thread of its collector. Once in each boot, and
// when the daemon begins to read the device: what an operator commands later stays, until then or until a reload brings
// another rate.
//   GridFollower grid(session);
//   grid.Follow("gpu0", info.clocks.trigger_hz, topology, boot_id);      // once a snapshot is published
#ifndef SIDEBAND_DAEMON_COUNTING_GRID_FOLLOWER_H_
#define SIDEBAND_DAEMON_COUNTING_GRID_FOLLOWER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/snapshot/topology.h"

namespace sideband::daemon {

// Used by one thread at a time. `session` must outlive it.
class GridFollower {
 public:
  explicit GridFollower(MailboxSession& session) : session_(session) {}

  // Without `trigger_hz` nothing is asked of the device. A rate that the device refuses is logged once; other errors
  // are logged when they differ from the last one, and the next call tries again.
  void Follow(const std::string& device, std::optional<uint32_t> trigger_hz, const Topology& topology,
              uint64_t boot_id);

 private:
  absl::Status Set(uint32_t trigger_hz, uint64_t reference_hz);

  MailboxSession& session_;
  std::optional<uint32_t> hz_;  // that is settled: in force, or refused
  std::optional<uint64_t> boot_id_;
  std::string error_;  // of the last attempt; empty: none
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_GRID_FOLLOWER_H_

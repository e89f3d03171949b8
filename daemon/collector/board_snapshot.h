// SPDX-License-Identifier: Apache-2.0
//
// The publication of a device that has base commands alone: it is up, and has no counters.
//   BoardSnapshots snapshots;
//   if (auto snapshot = snapshots.Make(*reader.reading(), answered)) store.Publish(device, std::move(snapshot));
#ifndef SIDEBAND_DAEMON_COLLECTOR_BOARD_SNAPSHOT_H_
#define SIDEBAND_DAEMON_COLLECTOR_BOARD_SNAPSHOT_H_

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/topology.h"

namespace sideband::daemon {

// Of one device. Not thread-safe.
class BoardSnapshots {
 public:
  // A snapshot without rows, as old as the board's last answer: a round of many commands is answered before it is a
  // sample; `wall_error` is that of its wall clock. nullptr while nothing was read. The device's UUID is the board's
  // GUID, or nil.
  std::shared_ptr<DeviceSnapshot> Make(const BoardReading& reading, const BoardTime& answered,
                                       absl::Duration wall_error = absl::ZeroDuration());

 private:
  std::shared_ptr<const Topology> topology_;  // shared by the snapshots of one board
  uint64_t publication_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_BOARD_SNAPSHOT_H_

// SPDX-License-Identifier: Apache-2.0
//
// When the counters of each block were zero, as far as the host can know: what OpenMetrics calls a counter's created
// time, by which a restart shows.
//   CreationTimes times;
//   snapshot->created = times.Of(snapshot->data, snapshot->host_time, redacted.device_row_is_new);
#ifndef SIDEBAND_DAEMON_COLLECTOR_CREATION_TIMES_H_
#define SIDEBAND_DAEMON_COLLECTOR_CREATION_TIMES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Of one device. Not thread-safe.
class CreationTimes {
 public:
  // Parallel to snapshot.blocks. A block that was there in the snapshot before, of the same boot and generation, keeps
  // its time. One that is new was created after that snapshot: its time is that snapshot's. In the first snapshot of a
  // boot nothing is known but that it was after the boot. The device's row, where it is new, starts with this snapshot.
  std::vector<absl::Time> Of(const mailbox::Snapshot& snapshot, absl::Time host_time, bool device_row_is_new = false);

 private:
  using BlockId = std::pair<uint16_t, uint16_t>;  // VM, context
  struct Creation {
    uint32_t generation;
    absl::Time time;
  };

  uint64_t boot_id_ = 0;
  absl::Time last_ = absl::InfinitePast();  // the snapshot before; in a new boot, the boot
  absl::flat_hash_map<BlockId, Creation> blocks_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_CREATION_TIMES_H_

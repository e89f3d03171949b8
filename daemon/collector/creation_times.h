// SPDX-License-Identifier: Apache-2.0
//
// The created time of each block's counters (OpenMetrics `_created`): the time at which they were zero, as far as the
// host can know it. Scrapers detect a restart of a counter by it. A published created time never changes during the
// life of its block, even if a clock is set. CreationFile stores created times across restarts of the daemon.
//   CreationTimes times;
//   if (auto known = file.Load(uuid); known.ok()) times.Restore(*std::move(known));
//   snapshot->created = times.Of(snapshot->data, {host_time, host_time_error, steady_time}, device_row_is_new);
//   if (times.has_changed()) SIDEBAND_RETURN_IF_ERROR(file.Save(uuid, times.known()));
#ifndef SIDEBAND_DAEMON_COLLECTOR_CREATION_TIMES_H_
#define SIDEBAND_DAEMON_COLLECTOR_CREATION_TIMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// The created times of the blocks of one boot of a device.
struct Creations {
  using BlockId = std::pair<uint16_t, uint16_t>;  // VM, context
  struct Creation {
    uint32_t generation;
    absl::Time time;
    bool operator==(const Creation&) const = default;
  };

  bool operator==(const Creations&) const = default;

  uint64_t boot_id = 0;
  absl::Time booted = absl::InfinitePast();
  absl::Time last = absl::InfinitePast();  // of a snapshot with exactly these blocks
  absl::flat_hash_map<BlockId, Creation> blocks;
};

// State for one device. Not thread-safe.
class CreationTimes {
 public:
  // The time of a latch: by the wall clock, with an error to either side, and by the monotonic clock.
  struct Instant {
    absl::Time host;
    absl::Duration error;
    absl::Duration steady;
  };

  // Restores the state of an earlier run of the daemon. It is used only if the next snapshot has the same boot id.
  void Restore(Creations known) { known_ = std::move(known); }

  // Returns the created times, parallel to snapshot.blocks:
  //  * A block of the previous snapshot with the same boot id and generation keeps its time.
  //  * A new block gets the time of the previous snapshot, by the current wall clock.
  //  * In the first snapshot of a boot, a block gets the later of two times: the estimated time of the boot, and the
  //    last snapshot of the previous boot. The estimate is rounded down to the whole second, since the estimates of two
  //    runs of the daemon differ by the duration of bus transfers.
  //  * The device's row gets the time of this snapshot if `device_row_is_new`.
  std::vector<absl::Time> Of(const mailbox::Snapshot& snapshot, const Instant& at, bool device_row_is_new = false);

  // Whether the last snapshot, or the restored state, is of this boot.
  bool IsKnown(uint64_t boot_id) const;
  // The time of the boot of the last snapshot: what the first snapshot of that boot gave for a block.
  absl::Time booted() const { return known_.booted; }

  // Whether the last call of Of() changed the boot or the set of blocks, so that known() must be saved.
  bool has_changed() const { return has_changed_; }
  const Creations& known() const { return known_; }

 private:
  // The previous snapshot by the current wall clock.
  absl::Time Previous(const Instant& at) const;
  // The estimated boot, not before the previous snapshot of another boot.
  absl::Time Boot(const mailbox::Snapshot& snapshot, const Instant& at) const;

  Creations known_;
  std::optional<absl::Duration> last_steady_;  // of the previous snapshot; nullopt before the first of this run
  bool has_changed_ = false;
};

// Created times of counters, stored across restarts of the daemon: one small file per device in the state folder.
//
// The file "created-UUID" has these lines of text; times are nanoseconds since 1970:
// - "sideband created 1"
// - "boot 1f00a2b3c4d5e6f7"
// - "last 1700000000123456789"
// - "booted 1690000000000000000"; absent in files of version 0.2.0 and earlier
// - "block 1 65535 3 1700000000000000000": VM, context, generation, created; one line for each block
//
// Thread-safe as long as each device is used by one thread at a time.
class CreationFile {
 public:
  explicit CreationFile(std::string folder) : folder_(std::move(folder)) {}

  // INVALID_ARGUMENT "FILE:LINE: why" if the content was not written by Save(); otherwise the errors of ReadFile.
  absl::StatusOr<Creations> Load(const Uuid& device) const;
  // Replaces the file atomically. It is not synced: after a crash of the machine the previous content may remain.
  absl::Status Save(const Uuid& device, const Creations& known) const;

 private:
  std::string PathOf(const Uuid& device) const;

  const std::string folder_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_CREATION_TIMES_H_

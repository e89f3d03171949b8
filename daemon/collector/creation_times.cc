// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/creation_times.h"

#include <algorithm>
#include <limits>

#include "daemon/snapshot/level.h"

namespace sideband::daemon {
namespace {

absl::Time WholeSecond(absl::Time time) { return absl::FromUnixSeconds(absl::ToUnixSeconds(time)); }

}  // namespace

bool CreationTimes::IsKnown(uint64_t boot_id) const {
  // Any boot id may be a real one.
  return known_.last != absl::InfinitePast() && known_.boot_id == boot_id;
}

absl::Time CreationTimes::Previous(const Instant& at) const {
  // A time saved by an earlier run may lie in the future if the wall clock was set back since.
  return last_steady_ ? at.host - (at.steady - *last_steady_) : std::min(known_.last, at.host);
}

absl::Time CreationTimes::Boot(const mailbox::Snapshot& snapshot, const Instant& at) const {
  constexpr uint64_t kMostNs = std::numeric_limits<int64_t>::max();
  const absl::Duration since = absl::Nanoseconds(std::min(snapshot.reference_time_ns, kMostNs));
  const absl::Time estimate = WholeSecond(at.host - at.error - since);
  // If the device has restarted since the previous snapshot, its blocks cannot be older than that snapshot.
  return IsKnown(snapshot.boot_id) ? estimate : std::max(Previous(at), estimate);
}

std::vector<absl::Time> CreationTimes::Of(const mailbox::Snapshot& snapshot, const Instant& at,
                                          bool device_row_is_new) {
  const bool is_same_boot = IsKnown(snapshot.boot_id);
  const absl::Time boot = Boot(snapshot, at), last = is_same_boot ? Previous(at) : boot;
  if (!is_same_boot) known_.blocks.clear();
  // A file of an earlier version lacks the time of the boot.
  const bool is_boot_known = is_same_boot && known_.booted != absl::InfinitePast();
  // Blocks that are absent from this snapshot are forgotten: an id that returns later is a new block.
  Creations now = {.boot_id = snapshot.boot_id, .booted = is_boot_known ? known_.booted : boot, .last = at.host};
  std::vector<absl::Time> times;
  for (const mailbox::BlockHeader& block : snapshot.blocks) {
    const Creations::BlockId id(block.vm, block.context);
    const auto known = known_.blocks.find(id);
    const bool is_same = known != known_.blocks.end() && known->second.generation == block.generation;
    const bool starts_now = device_row_is_new && LevelOf(block) == Level::kDevice;
    times.push_back(starts_now ? at.host : is_same ? known->second.time : last);
    now.blocks.insert_or_assign(id, Creations::Creation{block.generation, times.back()});
  }
  // `last` does not count: otherwise the file would be written at every snapshot.
  has_changed_ = !is_same_boot || !is_boot_known || now.blocks != known_.blocks;
  known_ = std::move(now);
  last_steady_ = at.steady;
  return times;
}

}  // namespace sideband::daemon

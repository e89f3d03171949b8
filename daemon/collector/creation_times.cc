// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/creation_times.h"

namespace sideband::daemon {

std::vector<absl::Time> CreationTimes::Of(const mailbox::Snapshot& snapshot, absl::Time host_time,
                                          bool device_row_is_new) {
  if (last_ == absl::InfinitePast() || snapshot.boot_id != boot_id_) {
    boot_id_ = snapshot.boot_id;
    blocks_.clear();
    last_ = host_time - absl::Nanoseconds(snapshot.reference_time_ns);
  }
  // Only what is there now is remembered, so that an id that comes back is new.
  absl::flat_hash_map<BlockId, Creation> now;
  std::vector<absl::Time> times;
  for (const mailbox::BlockHeader& block : snapshot.blocks) {
    const BlockId id(block.vm, block.context);
    const auto known = blocks_.find(id);
    const bool is_same = known != blocks_.end() && known->second.generation == block.generation;
    const bool starts_now = device_row_is_new && block.vm == mailbox::kHypervisorVm;
    times.push_back(starts_now ? host_time : is_same ? known->second.time : last_);
    now.insert_or_assign(id, Creation{block.generation, times.back()});
  }
  blocks_ = std::move(now);
  last_ = host_time;
  return times;
}

}  // namespace sideband::daemon

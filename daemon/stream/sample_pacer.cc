// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/sample_pacer.h"

#include <utility>

namespace sideband::daemon {

absl::Duration SamplePacer::Earliest(absl::Duration device_interval) const {
  // The first snapshot starts the grid; an interval no longer than the device's selects every snapshot.
  if (taken_ == 0 || sample_interval_ <= device_interval) return -absl::InfiniteDuration();
  // The publication nearest to `due_` is at most half a device interval early.
  return due_ - device_interval / 2;
}

bool SamplePacer::Wants(uint64_t publication, absl::Duration steady_time, absl::Duration device_interval) const {
  return publication > taken_ && steady_time >= Earliest(device_interval);
}

uint64_t SamplePacer::Take(uint64_t publication, absl::Duration steady_time) {
  due_ = taken_ == 0 ? steady_time + sample_interval_ : due_ + sample_interval_;
  // After a pause the grid restarts: missed samples are not caught up.
  if (due_ <= steady_time) due_ = steady_time + sample_interval_;
  const uint64_t before = std::exchange(taken_, publication);
  return before == 0 ? 0 : publication - before - 1;
}

}  // namespace sideband::daemon

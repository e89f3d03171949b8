// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/sample_pacer.h"

#include <utility>

namespace sideband::daemon {

bool SamplePacer::Wants(const DeviceSnapshot& snapshot, absl::Duration device_interval) const {
  if (snapshot.publication <= taken_) return false;
  // The first snapshot starts the grid; an interval no longer than the device's selects every snapshot.
  if (taken_ == 0 || sample_interval_ <= device_interval) return true;
  // The publication nearest to `due_` is at most half a device interval early.
  return snapshot.steady_time >= due_ - device_interval / 2;
}

uint64_t SamplePacer::Take(const DeviceSnapshot& snapshot) {
  due_ = taken_ == 0 ? snapshot.steady_time + sample_interval_ : due_ + sample_interval_;
  // After a pause the grid restarts: missed samples are not caught up.
  if (due_ <= snapshot.steady_time) due_ = snapshot.steady_time + sample_interval_;
  const uint64_t before = std::exchange(taken_, snapshot.publication);
  return before == 0 ? 0 : snapshot.publication - before - 1;
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/sample_pacer.h"

#include <utility>

namespace sideband::daemon {

bool SamplePacer::Wants(const DeviceSnapshot& snapshot) const {
  if (snapshot.publication <= taken_) return false;
  if (taken_ == 0 || sample_interval_ <= device_interval_) return true;
  // Half a device interval early is nearer than half of one late.
  return snapshot.steady_time >= due_ - device_interval_ / 2;
}

uint64_t SamplePacer::Take(const DeviceSnapshot& snapshot) {
  due_ = taken_ == 0 ? snapshot.steady_time + sample_interval_ : due_ + sample_interval_;
  // After a pause the grid starts anew instead of catching up.
  if (due_ <= snapshot.steady_time) due_ = snapshot.steady_time + sample_interval_;
  const uint64_t before = std::exchange(taken_, snapshot.publication);
  return before == 0 ? 0 : snapshot.publication - before - 1;
}

}  // namespace sideband::daemon

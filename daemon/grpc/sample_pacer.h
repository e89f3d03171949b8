// SPDX-License-Identifier: Apache-2.0
//
// Which publications of one device a subscriber gets who wants one per interval.
//   if (pacer.Wants(snapshot)) { response.set_skipped(pacer.Take(snapshot)); … }
#ifndef SIDEBAND_DAEMON_GRPC_SAMPLE_PACER_H_
#define SIDEBAND_DAEMON_GRPC_SAMPLE_PACER_H_

#include <cstdint>

#include "absl/time/time.h"
#include "daemon/model/device_snapshot.h"

namespace sideband::daemon {

// Takes the publication nearest to each multiple of the interval since the first one, by when it was latched, and so
// neither drifts nor needs a timer. Not thread-safe.
class SamplePacer {
 public:
  // Every publication where `sample_interval` is no longer than `device_interval`.
  SamplePacer(absl::Duration sample_interval, absl::Duration device_interval)
      : sample_interval_(sample_interval), device_interval_(device_interval) {}

  bool has_taken() const { return taken_ != 0; }
  // Whether the snapshot is newer than the last one taken, and due.
  bool Wants(const DeviceSnapshot& snapshot) const;
  // How many publications lie between the last one taken and this one.
  uint64_t Take(const DeviceSnapshot& snapshot);

 private:
  absl::Duration sample_interval_;
  absl::Duration device_interval_;
  uint64_t taken_ = 0;  // publication; 0: none yet
  absl::Duration due_;  // steady time
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SAMPLE_PACER_H_

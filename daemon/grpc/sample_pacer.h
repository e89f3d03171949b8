// SPDX-License-Identifier: Apache-2.0
//
// Selects the publications of one device for a stream with a sample interval.
//   if (pacer.Wants(snapshot, interval)) response.set_skipped(pacer.Take(snapshot));
#ifndef SIDEBAND_DAEMON_GRPC_SAMPLE_PACER_H_
#define SIDEBAND_DAEMON_GRPC_SAMPLE_PACER_H_

#include <cstdint>

#include "absl/time/time.h"
#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {

// Selects the publication latched nearest to each multiple of the sample interval since the first one. Latch times
// decide, so the selection does not drift and needs no timer. Not thread-safe.
class SamplePacer {
 public:
  explicit SamplePacer(absl::Duration sample_interval) : sample_interval_(sample_interval) {}

  bool has_taken() const { return taken_ != 0; }
  // Whether the snapshot is newer than the last one taken, and due. Every newer snapshot is due where the sample
  // interval does not exceed `device_interval`, which a reload may change.
  bool Wants(const DeviceSnapshot& snapshot, absl::Duration device_interval) const;
  // Takes the snapshot. Returns the number of publications skipped since the last one taken; 0 for the first.
  uint64_t Take(const DeviceSnapshot& snapshot);

 private:
  absl::Duration sample_interval_;
  uint64_t taken_ = 0;  // publication number; 0: none yet
  absl::Duration due_;  // steady time of the next sample
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SAMPLE_PACER_H_

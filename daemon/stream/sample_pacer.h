// SPDX-License-Identifier: Apache-2.0
//
// Selects the publications of one device for a stream with a sample interval.
//   if (pacer.Wants(snapshot, interval)) response.set_skipped(pacer.Take(snapshot));
#ifndef SIDEBAND_DAEMON_STREAM_SAMPLE_PACER_H_
#define SIDEBAND_DAEMON_STREAM_SAMPLE_PACER_H_

#include <cstdint>

#include "absl/time/time.h"
#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {

// Selects the publication latched nearest to each multiple of the sample interval since the first one. Latch times
// decide, so the selection does not drift and needs no timer. Not thread-safe.
class SamplePacer {
 public:
  explicit SamplePacer(absl::Duration sample_interval) : sample_interval_(sample_interval) {}
  // One that has taken `taken` before, and goes on as that one would.
  SamplePacer(absl::Duration sample_interval, uint64_t taken, absl::Duration due)
      : sample_interval_(sample_interval), taken_(taken), due_(due) {}

  bool has_taken() const { return taken_ != 0; }
  uint64_t taken() const { return taken_; }
  absl::Duration due() const { return due_; }

  // The steady time before which no publication is due. Every newer snapshot is due where the sample interval does not
  // exceed `device_interval`, which a reload may change.
  absl::Duration Earliest(absl::Duration device_interval) const;
  // Whether the publication is newer than the last one taken, and due.
  bool Wants(uint64_t publication, absl::Duration steady_time, absl::Duration device_interval) const;
  bool Wants(const DeviceSnapshot& snapshot, absl::Duration device_interval) const {
    return Wants(snapshot.publication, snapshot.steady_time, device_interval);
  }
  // Takes the publication. Returns the number of publications skipped since the last one taken; 0 for the first.
  uint64_t Take(uint64_t publication, absl::Duration steady_time);
  uint64_t Take(const DeviceSnapshot& snapshot) { return Take(snapshot.publication, snapshot.steady_time); }

 private:
  absl::Duration sample_interval_;
  uint64_t taken_ = 0;  // publication number; 0: none yet
  absl::Duration due_;  // steady time of the next sample
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_SAMPLE_PACER_H_

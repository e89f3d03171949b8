// SPDX-License-Identifier: Apache-2.0
//
// The counts of all metrics of a scope at one instant, and the window between two such samples.
//   MetricWindow window;
//   window.Update(sample, kWindowNs, kWindowNs);      // at every read
//   if (window.begin() != nullptr) Use(*window.begin(), *window.end());
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SAMPLE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SAMPLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "proto/mailbox/rotation.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// What one event has.
struct MetricCount {
  uint64_t count = 0;                // its estimate if it takes turns
  mailbox::RotationTime turns = {};  // the cycles in which it took turns, and had them; 0 if it takes none
  uint64_t running = 0;              // the cycles in which it was counted, if it is in a gate group

  MetricCount& operator+=(const MetricCount& other);
};

struct MetricSample {
  // Identifies the counted object. Samples with different identities are not comparable: counting restarted, or other
  // blocks were counted.
  uint64_t identity = 0;
  uint64_t reference_time_ns = 0;
  SliceSet slices = 0;
  std::vector<MetricCount> counts = {};  // parallel to MetricSources::events
};

// Not thread-safe.
class MetricWindow {
 public:
  // Adds a sample. The open window ends with `now` if it has lasted at least `next_ns` (`first_ns` before the first
  // window has ended), and the next window begins. A sample of another identity restarts with a first window.
  void Update(const MetricSample& now, uint64_t first_ns, uint64_t next_ns);

  // The last complete window; null before the first one has ended.
  const MetricSample* begin() const { return begin_ ? &*begin_ : nullptr; }
  const MetricSample* end() const { return begin_ ? &*end_ : nullptr; }

 private:
  std::optional<MetricSample> begin_;
  std::optional<MetricSample> end_;  // also the beginning of the open window
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SAMPLE_H_

// SPDX-License-Identifier: Apache-2.0
//
// What all metrics of a scope had counted at one moment, and the time between two such moments.
//   MetricWindow window;
//   window.Update(sample, kWindowNs, kWindowNs);      // whenever somebody asks
//   if (window.begin() != nullptr) Use(*window.begin(), *window.end());
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SAMPLE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SAMPLE_H_

#include <array>
#include <cstdint>
#include <optional>

#include "proto/mailbox/performance_metric.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

struct MetricSample {
  // Of what was counted: samples that differ in it have nothing to do with each other, since counting began anew or
  // others are counted.
  uint64_t identity = 0;
  uint64_t reference_time_ns = 0;
  SliceSet slices = 0;
  std::array<uint64_t, mailbox::kMetricCount> counts = {};
};

// Not thread-safe.
class MetricWindow {
 public:
  // A window ends with `now` if it has been open for so long; until there was one, for `first_ns`. The next begins.
  void Update(const MetricSample& now, uint64_t first_ns, uint64_t next_ns);

  // The last whole window; null before there was one.
  const MetricSample* begin() const { return begin_ ? &*begin_ : nullptr; }
  const MetricSample* end() const { return begin_ ? &*end_ : nullptr; }

 private:
  std::optional<MetricSample> begin_;
  std::optional<MetricSample> end_;  // and the begin of the one that is open
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SAMPLE_H_

// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/metric_sample.h"

namespace sideband::mcu {

MetricCount& MetricCount::operator+=(const MetricCount& other) {
  count += other.count;
  turns.enabled += other.turns.enabled;
  turns.running += other.turns.running;
  running += other.running;
  return *this;
}

void MetricWindow::Update(const MetricSample& now, uint64_t first_ns, uint64_t next_ns) {
  // Counts of different identities are not comparable, so windows start over.
  if (!end_ || end_->identity != now.identity) {
    begin_.reset();
    end_ = now;
    return;
  }
  const uint64_t window_ns = begin_ ? next_ns : first_ns;
  if (now.reference_time_ns < end_->reference_time_ns + window_ns) return;
  begin_ = end_;
  end_ = now;
}

}  // namespace sideband::mcu

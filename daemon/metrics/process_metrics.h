// SPDX-License-Identifier: Apache-2.0
//
// Metrics of the process, with the names that Prometheus' client libraries have for them, from /proc (proc(5)).
//   ProcessMetrics process(registry);
//   process.Update();   // before the registry is collected
#ifndef SIDEBAND_DAEMON_METRICS_PROCESS_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_PROCESS_METRICS_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/metrics/families.h"

namespace sideband::daemon {

// Thread-safe. A value that cannot be read keeps its last one.
class ProcessMetrics {
 public:
  // `registry` must outlive the object.
  explicit ProcessMetrics(prometheus::Registry& registry);

  void Update();

 private:
  absl::Mutex mu_;
  prometheus::Counter* const cpu_seconds_ ABSL_PT_GUARDED_BY(mu_);  // set by increments
  prometheus::Gauge& max_fds_;
  prometheus::Gauge& open_fds_;
  prometheus::Gauge& resident_memory_;
  prometheus::Gauge& start_time_;
  prometheus::Gauge& virtual_memory_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_PROCESS_METRICS_H_

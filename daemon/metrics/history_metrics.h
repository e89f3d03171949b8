// SPDX-License-Identifier: Apache-2.0
//
// Metrics of the history.
//   metrics.HistorySpan("gpu0", absl::Hours(1));
#ifndef SIDEBAND_DAEMON_METRICS_HISTORY_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_HISTORY_METRICS_H_

#include <cstddef>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace prometheus {
class Registry;
}

namespace sideband::daemon {

// Thread-safe. Label values must come from fixed sets (devices of the configuration, status codes, known paths): each
// new one is a series that stays.
class HistoryMetrics {
 public:
  void HistoryHeld(size_t bytes, size_t max_bytes);
  // How much of that is of sensors.
  void SensorHistoryHeld(size_t bytes);
  void HistorySpan(absl::string_view device, absl::Duration span);
  void SensorHistorySpan(absl::string_view device, absl::Duration span);

 protected:
  // Registers its families; throws what prometheus-cpp does.
  explicit HistoryMetrics(prometheus::Registry& registry);
  ~HistoryMetrics();
  // Removes the device's series.
  void ForgetDevice(absl::string_view device);

 private:
  struct Families;
  const std::unique_ptr<Families> families_;  // locks itself
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_HISTORY_METRICS_H_

// SPDX-License-Identifier: Apache-2.0
//
// Attaches a history of counters and one of sensors to the stores for the lifetime of this object, and reports them in
// the metrics. Both together keep within one bound, of which sensors have an eighth.
//   const KeptHistory history(config.history, store, boards, *metrics);
#ifndef SIDEBAND_DAEMON_RUN_KEPT_HISTORY_H_
#define SIDEBAND_DAEMON_RUN_KEPT_HISTORY_H_

#include <cstddef>

#include "daemon/board/board_store.h"
#include "daemon/config/sections.h"
#include "daemon/history/history.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sensor_history/sensor_history.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

// The stores and `metrics` must outlive this object.
class KeptHistory {
 public:
  KeptHistory(const HistoryConfig& config, Store& store, BoardStore& boards, SelfMetrics& metrics);
  ~KeptHistory();

  const History& get() const { return history_; }
  SensorHistory& sensors() { return sensors_; }
  // Applies a changed configuration.
  void Configure(const HistoryConfig& config);
  // Drops the history of a removed device. To be called after the boards' store has forgotten it.
  void Remove(size_t device);
  // Drops the history of a board that is no longer read. Likewise.
  void RemoveSensors(size_t device) { sensors_.Remove(device); }

 private:
  void ReportTo(SelfMetrics& metrics) const;

  Store& store_;
  BoardStore& boards_;
  History history_;
  SensorHistory sensors_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_KEPT_HISTORY_H_

// SPDX-License-Identifier: Apache-2.0
//
// Attaches a history to the store for the lifetime of this object, and reports it in the metrics.
//   const KeptHistory history(config.history, store, *metrics);
#ifndef SIDEBAND_DAEMON_RUN_KEPT_HISTORY_H_
#define SIDEBAND_DAEMON_RUN_KEPT_HISTORY_H_

#include <cstddef>

#include "daemon/config/history_config.h"
#include "daemon/history/history.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

// `store` and `metrics` must outlive this object.
class KeptHistory {
 public:
  KeptHistory(const HistoryConfig& config, Store& store, SelfMetrics& metrics);
  ~KeptHistory();

  const History& get() const { return history_; }
  // Applies a changed configuration.
  void Configure(const HistoryConfig& config) { history_.SetMaxBytes(config.max_bytes); }
  // Drops the history of a removed device.
  void Remove(size_t device) { history_.Remove(device); }

 private:
  void ReportTo(SelfMetrics& metrics) const;

  Store& store_;
  History history_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_KEPT_HISTORY_H_

// SPDX-License-Identifier: Apache-2.0
//
// The store's history for as long as this lives, and the metrics that tell of it.
//   const KeptHistory history(config.history, store, *metrics);
#ifndef SIDEBAND_DAEMON_RUN_KEPT_HISTORY_H_
#define SIDEBAND_DAEMON_RUN_KEPT_HISTORY_H_

#include <optional>

#include "daemon/config/history_config.h"
#include "daemon/history/history.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/store/store.h"

namespace sideband::daemon {

// `store` and `metrics` must outlive it.
class KeptHistory {
 public:
  // None is kept where the configuration says so.
  KeptHistory(const HistoryConfig& config, Store& store, SelfMetrics& metrics);
  ~KeptHistory();

  // nullptr: none is kept.
  const History* get() const { return history_ ? &*history_ : nullptr; }

 private:
  void Tell(SelfMetrics& metrics) const;

  Store& store_;
  std::optional<History> history_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_KEPT_HISTORY_H_

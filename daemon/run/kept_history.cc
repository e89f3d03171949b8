// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/kept_history.h"

namespace sideband::daemon {

KeptHistory::KeptHistory(const HistoryConfig& config, Store& store, SelfMetrics& metrics)
    : store_(store), history_({.max_bytes = config.max_bytes}) {
  store_.AddListener(history_);
  metrics.SetUpdate([this](SelfMetrics& of) { ReportTo(of); });
}

KeptHistory::~KeptHistory() { store_.RemoveListener(history_); }

void KeptHistory::ReportTo(SelfMetrics& metrics) const {
  metrics.HistoryHeld(history_.bytes(), history_.max_bytes());
  if (history_.max_bytes() == 0) return;
  const auto listed = store_.devices();
  for (const auto& [id, info] : *listed) metrics.HistorySpan(info->name, history_.Span(id));
}

}  // namespace sideband::daemon

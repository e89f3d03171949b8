// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/kept_history.h"

namespace sideband::daemon {

KeptHistory::KeptHistory(const HistoryConfig& config, Store& store, SelfMetrics& metrics) : store_(store) {
  if (config.max_bytes > 0) history_.emplace(History::Options{.max_bytes = config.max_bytes}, store.devices().size());
  if (history_) store.AddListener(*history_);
  metrics.SetUpdate([this](SelfMetrics& of) { Tell(of); });
}

KeptHistory::~KeptHistory() {
  if (history_) store_.RemoveListener(*history_);
}

void KeptHistory::Tell(SelfMetrics& metrics) const {
  metrics.HistoryHeld(history_ ? history_->bytes() : 0, history_ ? history_->max_bytes() : 0);
  for (size_t i = 0; history_ && i < store_.devices().size(); ++i) {
    metrics.HistorySpan(store_.devices()[i].name, history_->Span(i));
  }
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/update_notifier.h"

namespace sideband::daemon {

UpdateNotifier::UpdateNotifier(Store& store, PolicyHolder& policy) : store_(store), policy_(policy) {
  store_.AddListener(*this);
  policy_.AddListener(*this);
}

UpdateNotifier::~UpdateNotifier() {
  policy_.RemoveListener(*this);
  store_.RemoveListener(*this);
}

void UpdateNotifier::AddListener(UpdateListener& listener) {
  absl::MutexLock lock(&mu_);
  listeners_.insert(&listener);
}

void UpdateNotifier::RemoveListener(UpdateListener& listener) {
  absl::MutexLock lock(&mu_);
  listeners_.erase(&listener);
}

void UpdateNotifier::Notify() {
  absl::MutexLock lock(&mu_);
  for (UpdateListener* listener : listeners_) listener->OnUpdate();
}

}  // namespace sideband::daemon

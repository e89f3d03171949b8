// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_store.h"

#include <utility>

namespace sideband::daemon {

BoardSettings BoardStore::SettingsOf(size_t device) const {
  absl::MutexLock lock(&mu_);
  const auto found = settings_.find(device);
  return found == settings_.end() ? BoardSettings() : found->second;
}

void BoardStore::SetSettings(size_t device, const BoardSettings& settings) {
  absl::MutexLock lock(&mu_);
  settings_[device] = settings;
}

std::shared_ptr<const BoardReading> BoardStore::Newest(size_t device) const {
  absl::MutexLock lock(&mu_);
  const auto found = newest_.find(device);
  return found == newest_.end() ? nullptr : found->second;
}

void BoardStore::Publish(size_t device, std::shared_ptr<const BoardReading> reading) {
  absl::MutexLock publishing(&publishing_mu_);
  {
    absl::MutexLock lock(&mu_);
    // A device that was removed meanwhile has no settings any more.
    const auto found = settings_.find(device);
    if (found == settings_.end() || !found->second.is_read) return;
    newest_[device] = reading;
  }
  // mu_ is free here, so that listeners may read the store.
  for (BoardListener* listener : listeners_) listener->OnPublish(device, reading);
}

void BoardStore::Forget(size_t device) {
  absl::MutexLock publishing(&publishing_mu_);
  absl::MutexLock lock(&mu_);
  settings_.erase(device);
  newest_.erase(device);
}

void BoardStore::AddListener(BoardListener& listener) {
  absl::MutexLock lock(&publishing_mu_);
  listeners_.insert(&listener);
}

void BoardStore::RemoveListener(BoardListener& listener) {
  absl::MutexLock lock(&publishing_mu_);
  listeners_.erase(&listener);
}

}  // namespace sideband::daemon

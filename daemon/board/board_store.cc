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
  absl::MutexLock lock(&mu_);
  // A device that was removed meanwhile has no settings any more.
  if (settings_.contains(device)) newest_[device] = std::move(reading);
}

void BoardStore::Forget(size_t device) {
  absl::MutexLock lock(&mu_);
  settings_.erase(device);
  newest_.erase(device);
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/store/store.h"

#include <utility>

namespace sideband::daemon {

Store::Store(std::vector<DeviceInfo> devices) : devices_(std::move(devices)), newest_(devices_.size()) {}

std::optional<size_t> Store::FindDevice(absl::string_view name) const {
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i].name == name) return i;
  }
  return std::nullopt;
}

std::shared_ptr<const DeviceSnapshot> Store::Newest(size_t device) const {
  absl::ReaderMutexLock lock(&mu_);
  return newest_.at(device);
}

void Store::Publish(size_t device, std::shared_ptr<const DeviceSnapshot> snapshot) {
  // Swapped under the lock, destroyed outside it: freeing a large snapshot must not hold up readers.
  auto previous = snapshot;
  {
    absl::MutexLock lock(&mu_);
    previous.swap(newest_.at(device));
  }
  absl::MutexLock lock(&listeners_mu_);
  for (PublicationListener* listener : listeners_) listener->OnPublish(device, snapshot);
}

void Store::AddListener(PublicationListener& listener) {
  absl::MutexLock lock(&listeners_mu_);
  listeners_.insert(&listener);
}

void Store::RemoveListener(PublicationListener& listener) {
  absl::MutexLock lock(&listeners_mu_);
  listeners_.erase(&listener);
}

}  // namespace sideband::daemon

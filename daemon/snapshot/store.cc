// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/store.h"

#include <utility>

namespace sideband::daemon {

Store::Store(std::vector<DeviceInfo> devices) {
  DeviceList list;
  for (DeviceInfo& device : devices) {
    list.push_back({NewId(), std::make_shared<const DeviceInfo>(std::move(device))});
  }
  SetDevices(std::move(list));
}

std::shared_ptr<const DeviceList> Store::devices() const {
  absl::ReaderMutexLock lock(&mu_);
  return devices_;
}

std::optional<size_t> Store::FindDevice(absl::string_view name) const {
  const auto listed = devices();
  for (const auto& [id, info] : *listed) {
    if (info->name == name) return id;
  }
  return std::nullopt;
}

std::shared_ptr<const DeviceInfo> Store::Info(size_t device) const {
  const auto listed = devices();
  for (const auto& [id, info] : *listed) {
    if (id == device) return info;
  }
  return nullptr;
}

size_t Store::NewId() {
  absl::MutexLock lock(&mu_);
  return next_id_++;
}

void Store::SetDevices(DeviceList devices) {
  // Destroyed without the lock, like the snapshot that Publish replaces.
  absl::flat_hash_map<size_t, std::shared_ptr<const DeviceSnapshot>> before;
  auto list = std::make_shared<const DeviceList>(std::move(devices));
  absl::MutexLock lock(&mu_);
  before.swap(newest_);
  // A new device gets an entry without a snapshot: Publish() drops the snapshots of devices that have none.
  for (const StoredDevice& device : *list) newest_[device.id] = before[device.id];
  devices_.swap(list);
}

std::shared_ptr<const DeviceSnapshot> Store::Newest(size_t device) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto newest = newest_.find(device);
  return newest == newest_.end() ? nullptr : newest->second;
}

void Store::Publish(size_t device, std::shared_ptr<const DeviceSnapshot> snapshot) {
  // Swapped under the lock, destroyed without it: freeing a large snapshot must not delay readers.
  auto previous = snapshot;
  {
    absl::MutexLock lock(&mu_);
    const auto newest = newest_.find(device);
    // A reload has removed the device while its collector was still at work.
    if (newest == newest_.end()) return;
    previous.swap(newest->second);
  }
  // mu_ is free here, so that listeners may read the store.
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

PublicationThread::PublicationThread(Store& store, std::function<void()> work)
    : store_(store), work_(std::move(work)) {}

PublicationThread::~PublicationThread() { Stop(); }

void PublicationThread::Start() {
  // Listens first: what is published before the thread runs leaves its mark.
  store_.AddListener(*this);
  thread_ = std::thread([this] { Run(); });
}

void PublicationThread::Stop() {
  store_.RemoveListener(*this);
  {
    absl::MutexLock lock(&mu_);
    is_stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void PublicationThread::OnPublish(size_t, const std::shared_ptr<const DeviceSnapshot>&) {
  absl::MutexLock lock(&mu_);
  has_news_ = true;
}

bool PublicationThread::WaitForNews() {
  absl::MutexLock lock(&mu_);
  // Abseil's own wait will do: without a time-out it does not depend on the wall clock (docs/decisions/0014).
  mu_.Await(absl::Condition(this, &PublicationThread::HasNews));
  // Cleared before the work, so that a publication during it causes another run.
  return std::exchange(has_news_, false) && !is_stopping_;
}

void PublicationThread::Run() {
  while (WaitForNews()) work_();
}

}  // namespace sideband::daemon

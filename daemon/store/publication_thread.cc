// SPDX-License-Identifier: Apache-2.0
#include "daemon/store/publication_thread.h"

#include <utility>

namespace sideband::daemon {

PublicationThread::PublicationThread(Store& store, std::function<void()> work)
    : store_(store), work_(std::move(work)) {}

PublicationThread::~PublicationThread() { Stop(); }

void PublicationThread::Start() {
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
  mu_.Await(absl::Condition(this, &PublicationThread::HasNews));
  return std::exchange(has_news_, false) && !is_stopping_;
}

void PublicationThread::Run() {
  while (WaitForNews()) work_();
}

}  // namespace sideband::daemon

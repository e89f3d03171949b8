// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/publication_thread.h"

#include <utility>

namespace sideband::daemon {

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

// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/periodic_thread.h"

#include <utility>

namespace sideband::daemon {

PeriodicThread::PeriodicThread(absl::Duration interval, std::function<void()> work)
    : interval_(interval), work_(std::move(work)) {}

PeriodicThread::~PeriodicThread() { Stop(); }

void PeriodicThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void PeriodicThread::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

bool PeriodicThread::Wait() {
  absl::MutexLock lock(&mu_);
  return !changed_.AwaitFor(mu_, absl::Condition(&stopping_), interval_);
}

void PeriodicThread::Run() {
  while (Wait()) work_();
}

}  // namespace sideband::daemon

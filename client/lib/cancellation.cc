// SPDX-License-Identifier: Apache-2.0
#include "client/lib/cancellation.h"

#include <utility>

namespace sideband::client {

Cancellation::Hook::Hook(Cancellation& cancellation, std::function<void()> action) : cancellation_(cancellation) {
  absl::MutexLock lock(&cancellation_.mu_);
  place_ = cancellation_.actions_.insert(cancellation_.actions_.end(), std::move(action));
  if (cancellation_.cancelled_) (*place_)();
}

Cancellation::Hook::~Hook() {
  absl::MutexLock lock(&cancellation_.mu_);
  cancellation_.actions_.erase(place_);
}

void Cancellation::Cancel() {
  absl::MutexLock lock(&mu_);
  if (std::exchange(cancelled_, true)) return;
  for (const auto& action : actions_) action();
}

bool Cancellation::cancelled() const {
  absl::MutexLock lock(&mu_);
  return cancelled_;
}

}  // namespace sideband::client

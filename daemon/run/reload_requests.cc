// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/reload_requests.h"

namespace sideband::daemon {
namespace {

absl::Status ShuttingDown() { return absl::UnavailableError("shutting down"); }

}  // namespace

void ReloadRequests::Ask(Done done) {
  {
    absl::MutexLock lock(&mu_);
    if (!is_closed_) waiting_.push_back(std::exchange(done, nullptr));
  }
  if (done != nullptr) return done(ShuttingDown());
  wake_();
}

std::vector<ReloadRequests::Done> ReloadRequests::Take() {
  absl::MutexLock lock(&mu_);
  return std::exchange(waiting_, {});
}

void ReloadRequests::Close() {
  {
    absl::MutexLock lock(&mu_);
    is_closed_ = true;
  }
  for (const Done& done : Take()) done(ShuttingDown());
}

}  // namespace sideband::daemon

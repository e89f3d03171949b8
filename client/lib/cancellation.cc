// SPDX-License-Identifier: Apache-2.0
#include "client/lib/cancellation.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <utility>

#include "proto/base/file.h"

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
  // Under the lock, so that no action runs after its hook's destruction.
  for (const auto& action : actions_) action();
}

bool Cancellation::WaitFor(absl::Duration duration) {
  const Descriptor event(::eventfd(0, EFD_CLOEXEC));
  {
    const Hook hook(*this, [&event] { eventfd_write(event.get(), 1); });
    pollfd wanted = {.fd = event.get(), .events = POLLIN, .revents = 0};
    ::poll(&wanted, 1, static_cast<int>(std::clamp<int64_t>(absl::ToInt64Milliseconds(duration), 0, INT_MAX)));
  }
  return cancelled();
}

bool Cancellation::cancelled() const {
  absl::MutexLock lock(&mu_);
  return cancelled_;
}

}  // namespace sideband::client

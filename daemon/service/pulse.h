// SPDX-License-Identifier: Apache-2.0
//
// Whether the threads of a server still run what they are given.
//   Pulse pulse(clock);
//   const absl::Duration silence = pulse.Feel([&](std::function<void()> task) { http->Post(std::move(task)); });
#ifndef SIDEBAND_DAEMON_SERVICE_PULSE_H_
#define SIDEBAND_DAEMON_SERVICE_PULSE_H_

#include <atomic>
#include <functional>

#include "absl/time/time.h"
#include "daemon/base/clock.h"

namespace sideband::daemon {

// Feel() is called by one thread; tasks run on any. Must outlive the tasks.
class Pulse {
 public:
  using Post = std::function<void(std::function<void()> task)>;

  explicit Pulse(const Clock& clock) : clock_(clock) {}

  // Returns how long the task of an earlier call has not run; zero if it has, and posts the next one.
  absl::Duration Feel(const Post& post);

 private:
  const Clock& clock_;
  std::atomic<bool> is_posted_ = false;
  absl::Duration posted_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SERVICE_PULSE_H_

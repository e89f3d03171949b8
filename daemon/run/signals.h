// SPDX-License-Identifier: Apache-2.0
//
// The signals handled by the daemon.
//   Signals signals;   // before any other thread
//   const int signal = signals.WaitFor(absl::Seconds(1));   // 0: none
#ifndef SIDEBAND_DAEMON_RUN_SIGNALS_H_
#define SIDEBAND_DAEMON_RUN_SIGNALS_H_

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "absl/time/time.h"

namespace sideband::daemon {

// Blocks SIGINT, SIGTERM and SIGHUP in this thread and all threads created later; the main thread receives them one by
// one by WaitFor(). SIGPIPE is ignored.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  // As if `signal` had come from outside. From any thread.
  static void Raise(int signal) { kill(getpid(), signal); }
  // Returns 0 if none has come within `timeout`.
  int WaitFor(absl::Duration timeout) {
    const timespec time = absl::ToTimespec(timeout);
    return std::max(0, sigtimedwait(&set_, nullptr, &time));
  }

 private:
  sigset_t set_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_SIGNALS_H_

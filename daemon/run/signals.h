// SPDX-License-Identifier: Apache-2.0
//
// The signals handled by the daemon.
//   Signals signals;   // before any other thread
//   while (signals.Wait() == SIGHUP) reloader.Reload();
#ifndef SIDEBAND_DAEMON_RUN_SIGNALS_H_
#define SIDEBAND_DAEMON_RUN_SIGNALS_H_

#include <csignal>

namespace sideband::daemon {

// Blocks SIGINT, SIGTERM and SIGHUP in this thread and all threads created later; the main thread receives them one by
// one by Wait(). SIGPIPE is ignored.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  int Wait() {
    int signal = 0;
    while (sigwait(&set_, &signal) != 0) {
    }
    return signal;
  }

 private:
  sigset_t set_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_SIGNALS_H_

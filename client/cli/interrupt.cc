// SPDX-License-Identifier: Apache-2.0
#include "client/cli/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace sideband::client {
namespace {

constexpr int kExitInterrupted = 130;

sigset_t Interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

InterruptWatcher::InterruptWatcher(Cancellation& cancellation) : cancellation_(cancellation) {
  const sigset_t interrupts = Interrupts();
  // signalfd receives only signals that are blocked.
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
  signals_ = Descriptor(::signalfd(-1, &interrupts, SFD_CLOEXEC));
  stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread([this] { Watch(); });
}

InterruptWatcher::~InterruptWatcher() {
  const uint64_t one = 1;
  while (::write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
  const sigset_t interrupts = Interrupts();
  pthread_sigmask(SIG_UNBLOCK, &interrupts, nullptr);
}

void InterruptWatcher::Watch() {
  for (;;) {
    pollfd events[] = {{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                       {.fd = signals_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(events, 2, -1) < 0) continue;
    if (events[0].revents != 0) return;
    signalfd_siginfo signal;
    if (::read(signals_.get(), &signal, sizeof(signal)) != sizeof(signal)) continue;
    // A second signal ends the program at once, in case the first one has no effect.
    if (cancellation_.cancelled()) ::_exit(kExitInterrupted);
    cancellation_.Cancel();
  }
}

}  // namespace sideband::client

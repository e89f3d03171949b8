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
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
  signals_ = ::signalfd(-1, &interrupts, SFD_CLOEXEC);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { Watch(); });
}

InterruptWatcher::~InterruptWatcher() {
  const uint64_t one = 1;
  while (::write(stop_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
  ::close(signals_);
  ::close(stop_);
  const sigset_t interrupts = Interrupts();
  pthread_sigmask(SIG_UNBLOCK, &interrupts, nullptr);
}

void InterruptWatcher::Watch() {
  for (;;) {
    pollfd events[] = {{.fd = stop_, .events = POLLIN, .revents = 0}, {.fd = signals_, .events = POLLIN, .revents = 0}};
    if (::poll(events, 2, -1) < 0) continue;
    if (events[0].revents != 0) return;
    signalfd_siginfo signal;
    if (::read(signals_, &signal, sizeof(signal)) != sizeof(signal)) continue;
    if (cancellation_.cancelled()) ::_exit(kExitInterrupted);
    cancellation_.Cancel();
  }
}

}  // namespace sideband::client

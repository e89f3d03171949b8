// SPDX-License-Identifier: Apache-2.0
#include "client/top/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace sideband::client::top {
namespace {

sigset_t SetOf(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

}  // namespace

Signals::Signals() {
  const sigset_t taken = SetOf({SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH});
  pthread_sigmask(SIG_BLOCK, &taken, &before_);
  descriptor_ = Descriptor(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

int Signals::Next() {
  signalfd_siginfo signal;
  return ::read(fd(), &signal, sizeof(signal)) == sizeof(signal) ? static_cast<int>(signal.ssi_signo) : 0;
}

void Signals::Suspend() {
  const sigset_t stop = SetOf({SIGTSTP});
  raise(SIGTSTP);  // pending for this thread until it is unblocked
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace sideband::client::top

// SPDX-License-Identifier: Apache-2.0
#include "client/cli/console.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "absl/strings/str_cat.h"

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

absl::Status FdOutput::Write(absl::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd_, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      closed_ = errno == EPIPE;
      return closed_ ? absl::CancelledError(absl::StrCat(name_, " was closed")) : absl::ErrnoToStatus(errno, name_);
    }
    text.remove_prefix(static_cast<size_t>(size));
  }
  return absl::OkStatus();
}

absl::Status StringOutput::Write(absl::string_view text) {
  text_.append(text.data(), text.size());
  return absl::OkStatus();
}

std::optional<TerminalSize> SizeOfTerminal(int fd) {
  if (::isatty(fd) == 0) return std::nullopt;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return TerminalSize();
  return TerminalSize{.rows = size.ws_row, .columns = size.ws_col};
}

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

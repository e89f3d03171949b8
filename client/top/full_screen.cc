// SPDX-License-Identifier: Apache-2.0
#include "client/top/full_screen.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/top/layout.h"

namespace sideband::client::top {
namespace {

// Ages are shown with a resolution of 0.1 s, but change no other value.
constexpr absl::Duration kPeriod = absl::Milliseconds(500);
// However fast the data comes.
constexpr absl::Duration kDrawPeriodMin = absl::Milliseconds(100);

absl::Status EndedBy(const char* name, int signal) {
  constexpr int kSignalled = 128;  // as shells report it
  return WithExitCode(absl::CancelledError(absl::StrCat("ended by ", name)), kSignalled + signal);
}

}  // namespace

Wake::Wake() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Wake::Set() { eventfd_write(descriptor_.get(), 1); }

void Wake::Clear() {
  eventfd_t count = 0;
  eventfd_read(descriptor_.get(), &count);
}

absl::Status FullScreen::Run() {
  terminal_.Resize();
  for (;;) {
    Build();
    Draw();
    Wait();
    if (const auto ended = Handle()) return *ended;
  }
}

// Until a key, a signal or data, or for kPeriod.
void FullScreen::Wait() {
  const absl::Time until = drawn_ + kDrawPeriodMin;
  pollfd wanted[] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                     {.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                     {.fd = wake_.fd(), .events = POLLIN, .revents = 0}};
  ::poll(wanted, 3, static_cast<int>(absl::ToInt64Milliseconds(kPeriod)));
  is_hung_up_ = (wanted[0].revents & (POLLHUP | POLLERR)) != 0;
  // Data alone may wait until the next drawing is due; keys, signals and a cancellation do not.
  const bool is_data_only = wanted[0].revents == 0 && wanted[1].revents == 0 && !context_.cancellation().cancelled();
  const absl::Duration left = until - context_.Now();
  if (is_data_only && left > absl::ZeroDuration()) {
    ::poll(wanted, 2, static_cast<int>(absl::ToInt64Milliseconds(std::min(left, kDrawPeriodMin))));
  }
  wake_.Clear();
}

std::optional<absl::Status> FullScreen::Handle() {
  if (context_.cancellation().cancelled()) return absl::OkStatus();
  if (absl::Status ended = feeds_.ended(); !ended.ok()) return ended;
  if (is_hung_up_) return EndedBy("the loss of its terminal", SIGHUP);
  if (auto ended = HandleSignals()) return ended;
  return HandleKeys();
}

std::optional<absl::Status> FullScreen::HandleSignals() {
  while (const int signal = signals_.Next()) {
    switch (signal) {
      case SIGHUP:
        return EndedBy("SIGHUP", SIGHUP);
      case SIGQUIT:
        return EndedBy("SIGQUIT", SIGQUIT);
      case SIGTSTP:
        Suspend();
        break;
      case SIGCONT:
        // A shell has changed the terminal, if the stop was not this program's own.
        terminal_.Leave();
        terminal_.Resume();
        break;
      case SIGWINCH:
        terminal_.Resize();
        break;
    }
  }
  return std::nullopt;
}

void FullScreen::Suspend() {
  terminal_.Leave();
  signals_.Suspend();
  terminal_.Resume();
}

std::optional<absl::Status> FullScreen::HandleKeys() {
  while (const std::optional<Key> key = terminal_.NextKey()) {
    const Seen seen{.rows = rows_, .events = events_, .event = event_, .page = PageOf(terminal_.size())};
    switch (view_.Press(*key, seen)) {
      case Request::kNone:
        break;
      case Request::kQuit:
        return absl::OkStatus();
      case Request::kSuspend:
        Suspend();
        break;
      case Request::kRedraw:
        terminal_.Invalidate();
        break;
    }
    Build();  // the next key is for what this one has made
  }
  return std::nullopt;
}

void FullScreen::Build() {
  std::vector<HostModel> hosts = feeds_.Read();
  // Several have rows that tell it.
  connection_ = hosts.size() == 1 && hosts[0].host.empty() ? hosts[0].model.connection : "";
  if (!view_.is_paused()) {
    frozen_.reset();
    time_ = context_.Now();
  } else if (!frozen_) {
    frozen_ = hosts;
  }
  const std::vector<HostModel>& shown = frozen_ ? *frozen_ : hosts;
  events_ = EventsOf(shown);
  event_ = ChosenEvent(shown, view_.options());
  rows_ = BuildRows(shown, view_.options(), time_);
  view_.Settle(rows_, PageOf(terminal_.size()));
}

void FullScreen::Draw() {
  const Frame frame{.view = view_,
                    .rows = rows_,
                    .peer = peer_,
                    .connection = connection_,
                    .event = event_,
                    .time = absl::FormatTime("%H:%M:%S UTC", time_, absl::UTCTimeZone()),
                    .is_unicode = terminal_.is_unicode()};
  terminal_.Draw(Lay(frame, terminal_.size()));
  drawn_ = context_.Now();
}

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

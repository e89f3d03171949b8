// SPDX-License-Identifier: Apache-2.0
#include "client/top/top_command.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/cli/stream.h"
#include "client/lib/rpc_status.h"
#include "client/top/feed.h"
#include "client/top/layout.h"
#include "client/top/rows.h"
#include "client/top/terminal_screen.h"
#include "client/top/view.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

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

sigset_t SetOf(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

// Wakes the loop from another thread. Thread-safe.
class Wake {
 public:
  Wake();
  int fd() const { return descriptor_.get(); }
  void Set();
  void Clear();

 private:
  const Descriptor descriptor_;
};

// The signals of a full-screen program, as a descriptor: none of them may interrupt it while the terminal is changed.
// To be made before other threads start.
//
// Blocks SIGHUP, SIGQUIT, SIGTSTP, SIGCONT and SIGWINCH for the calling thread, and for all threads that it starts
// later, until the object is destroyed, which must happen on the same thread. SIGINT and SIGTERM are not among them:
// they cancel (client/cli/console.h).
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Readable when a signal is pending.
  int fd() const { return descriptor_.get(); }
  // Takes the next pending signal; 0 if there is none.
  int Next();
  // Stops the process until SIGCONT, as the default action of SIGTSTP does.
  void Suspend();

 private:
  sigset_t before_;
  Descriptor descriptor_;
};

// The loop: waits for data, keys and signals, and draws. All arguments must outlive it.
class FullScreen {
 public:
  FullScreen(CommandContext& context, std::string peer, RowOptions options, Signals& signals, Wake& wake, Feeds& feeds,
             TerminalScreen& terminal)
      : context_(context),
        peer_(std::move(peer)),
        signals_(signals),
        wake_(wake),
        feeds_(feeds),
        terminal_(terminal),
        view_(std::move(options)) {}

  // OK if the user quits or the context is cancelled; the feeds' error; CANCELLED with the exit status of a shell for a
  // signal that ends it.
  absl::Status Run();

 private:
  void Wait();
  // nullopt while the loop goes on.
  std::optional<absl::Status> Handle();
  std::optional<absl::Status> HandleSignals();
  std::optional<absl::Status> HandleKeys();
  void Suspend();
  void Build();
  void Draw();

  CommandContext& context_;
  const std::string peer_;
  Signals& signals_;
  Wake& wake_;
  Feeds& feeds_;
  TerminalScreen& terminal_;

  View view_;
  std::optional<std::vector<HostModel>> frozen_;  // while the view is paused
  absl::Time time_;                               // of the rows
  std::vector<Row> rows_;
  std::vector<std::string> events_;
  std::string event_, connection_;
  absl::Time drawn_ = absl::InfinitePast();
  bool is_hung_up_ = false;
};

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

}  // namespace
}  // namespace sideband::client::top

namespace sideband::client {
namespace {

constexpr absl::Duration kBatchPeriod = absl::Seconds(1);
constexpr absl::Duration kSyncPatience = absl::Seconds(10);

// Rounds of plain text in place of a screen.
class Batch {
 public:
  Batch(CommandContext& context, std::string peer, top::RowOptions options, top::Wake& wake, top::Feeds& feeds)
      : context_(context), peer_(std::move(peer)), view_(std::move(options)), wake_(wake), feeds_(feeds) {}

  // OK after `count` rounds (0: unlimited), and after a cancellation; the feed's error.
  absl::Status Run(uint64_t count, absl::Duration period) {
    SIDEBAND_RETURN_IF_ERROR(AwaitSync());
    for (uint64_t round = 1; !context_.cancellation().cancelled(); ++round) {
      SIDEBAND_RETURN_IF_ERROR(feeds_.ended());
      SIDEBAND_RETURN_IF_ERROR(context_.out().Write(Text(round > 1)));
      if (round == count || context_.Wait(period)) break;
    }
    return absl::OkStatus();
  }

 private:
  // A round before would lack devices. A daemon that has fallen silent does not keep those of others back for ever.
  absl::Status AwaitSync() {
    const absl::Time until = context_.Now() + kSyncPatience;
    for (;;) {
      const bool is_synced =
          std::ranges::all_of(feeds_.Read(), [](const top::HostModel& host) { return host.model.is_synced; });
      const absl::Duration left = std::min(until - context_.Now(), kSyncPatience);
      if (is_synced || left <= absl::ZeroDuration() || context_.cancellation().cancelled()) return absl::OkStatus();
      SIDEBAND_RETURN_IF_ERROR(feeds_.ended());
      pollfd wanted{.fd = wake_.fd(), .events = POLLIN, .revents = 0};
      ::poll(&wanted, 1, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
      wake_.Clear();
    }
  }

  std::string Text(bool is_later) const {
    const absl::Time now = context_.Now();
    const std::vector<top::HostModel> hosts = feeds_.Read();
    const std::vector<top::Row> rows = top::BuildRows(hosts, view_.options(), now);
    std::vector<std::string> lost;
    for (const top::HostModel& host : hosts) {
      if (!host.model.connection.empty()) lost.push_back(host.model.connection);
    }
    const top::Frame frame{.view = view_,
                           .rows = rows,
                           .peer = peer_,
                           .connection = absl::StrJoin(lost, "; "),
                           .event = top::ChosenEvent(hosts, view_.options()),
                           .time = absl::FormatTime("%H:%M:%S UTC", now, absl::UTCTimeZone())};
    return (is_later ? "\n" : "") + top::BatchText(frame, context_.StyleOf({}));
  }

  CommandContext& context_;
  const std::string peer_;
  const top::View view_;
  top::Wake& wake_;
  top::Feeds& feeds_;
};

class TopCommand final : public Command {
 public:
  std::string name() const override { return "top"; }
  std::string description() const override { return "Show devices, VMs and contexts on a full screen"; }

  void Define(CLI::App& app) override {
    AddDeviceOption(app, devices_);
    app.add_option("--event", event_, "The event of the columns; default: the first one with a utilisation")
        ->type_name("NAME");
    interval_.AddTo(app);
    auto* const batch = app.add_flag("-b,--batch", is_batch_, "Print rounds of plain text, for pipes and logs");
    app.add_option("-n,--count", count_, "End after this number of rounds; default: go on until Ctrl-C")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
        ->type_name("N")
        ->needs(batch);
    app.footer(
        "The screen needs a terminal of 80 columns and 24 rows. ? shows the keys. Rounds of --batch are --interval\n"
        "apart, by default a second; the first one comes when all daemons have told their state, after 10 seconds at\n"
        "most. A list of addresses asks several daemons.\n"
        "Examples:\n"
        "  sideband top\n"
        "  sideband top --device 'gpu*' --event tensor_active_cycles\n"
        "  sideband top --batch --count 3 --interval 5s");
  }

  absl::Status Run(CommandContext& context) override {
    if (!is_batch_) SIDEBAND_RETURN_IF_ERROR(top::TerminalScreen::Check(context.get_env()));
    SIDEBAND_ASSIGN_OR_RETURN(const ClientConfig config, context.Config());
    top::Wake wake;
    const Cancellation::Hook cancelled(context.cancellation(), [&wake] { wake.Set(); });
    const size_t hosts = AddressesOf(config).size();
    const std::string peer = hosts > 1 ? absl::StrCat(hosts, " daemons") : config.address;
    return is_batch_ ? RunBatch(context, peer, wake) : RunScreen(context, peer, wake);
  }

 private:
  absl::StatusOr<std::unique_ptr<top::Feeds>> StartFeeds(CommandContext& context, top::Wake& wake) const {
    return top::Feeds::Start(context,
                             {.model = {.devices = devices_, .sample_interval = interval_.value()}, .event = event_},
                             [&wake] { wake.Set(); });
  }

  absl::Status RunBatch(CommandContext& context, const std::string& peer, top::Wake& wake) const {
    SIDEBAND_ASSIGN_OR_RETURN(const auto feeds, StartFeeds(context, wake));
    const absl::Duration period = interval_.text.empty() ? kBatchPeriod : interval_.value();
    return ResultOf(Batch(context, peer, {.event = event_}, wake, *feeds).Run(count_, period), *feeds);
  }

  absl::Status RunScreen(CommandContext& context, const std::string& peer, top::Wake& wake) const {
    top::Signals signals;  // before the connection's threads
    SIDEBAND_ASSIGN_OR_RETURN(const auto feeds, StartFeeds(context, wake));
    SIDEBAND_ASSIGN_OR_RETURN(auto terminal, top::TerminalScreen::Open(context.get_env()));
    const absl::Status shown =
        top::FullScreen(context, peer, {.event = event_}, signals, wake, *feeds, *terminal).Run();
    terminal.reset();  // no error or note is printed to the full screen
    return ResultOf(shown, *feeds);
  }

  // The feeds know best why they have ended.
  static absl::Status ResultOf(const absl::Status& shown, top::Feeds& feeds) {
    return shown.ok() || IsRemote(shown) ? feeds.Result() : shown;
  }

  std::vector<std::string> devices_;
  std::string event_;
  IntervalOption interval_;
  bool is_batch_ = false;
  uint64_t count_ = 0;
};

}  // namespace

std::unique_ptr<Command> NewTopCommand() { return std::make_unique<TopCommand>(); }

}  // namespace sideband::client

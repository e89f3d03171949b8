// SPDX-License-Identifier: Apache-2.0
#include "client/top/top_command.h"

#include <poll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/options.h"
#include "client/cli/stream.h"
#include "client/lib/rpc_status.h"
#include "client/top/feed.h"
#include "client/top/full_screen.h"
#include "client/top/layout.h"
#include "client/top/terminal_screen.h"
#include "proto/base/status_macros.h"

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

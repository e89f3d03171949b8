// SPDX-License-Identifier: Apache-2.0
#include "client/cli/watch_command.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/stream.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr absl::Duration kIntervalMin = absl::Milliseconds(10);  // the daemon refuses less
constexpr absl::Duration kIntervalMax = absl::Hours(24);

// As CLI11 wants it: what is wrong, or nothing.
std::string CheckInterval(const std::string& text) {
  absl::Duration interval;
  const bool good = absl::ParseDuration(text, &interval) && interval >= kIntervalMin && interval <= kIntervalMax;
  return good ? "" : absl::StrCat("'", text, "' is no duration from 10ms to 24h");
}

class WatchCommand final : public Command {
 public:
  std::string name() const override { return "watch"; }
  std::string description() const override { return "Print counters and rates as they are read, until Ctrl-C"; }

  void Define(CLI::App& app) override {
    filter_.AddTo(app);
    app.add_option("--interval", interval_, "Time between updates, such as 500ms; default: the device's own")
        ->check(CheckInterval)
        ->type_name("DURATION");
    app.add_option("--count", count_, "End after so many updates; default: none")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
        ->type_name("N");
    format_.AddTo(app);
    app.footer(
        "With --format json, each update is one line.\n"
        "Examples:\n"
        "  sideband watch --vm vm0 --interval 500ms\n"
        "  sideband watch --count 10 --format json");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    StreamPrinter printer(context, count_);
    return printer.End(client->Subscribe(Request(), [&](const v1::SubscribeResponse& response) {
      return !response.has_update() || printer.Print(Render(response));
    }));
  }

 private:
  v1::SubscribeRequest Request() const {
    v1::SubscribeRequest request;
    *request.mutable_filter() = filter_.ToFilter();
    request.set_mode(v1::SubscribeRequest::MODE_STREAM);
    request.set_stream_mode(v1::SubscribeRequest::STREAM_MODE_SAMPLE);
    absl::Duration interval;
    if (absl::ParseDuration(interval_, &interval)) {
      request.mutable_sample_interval()->set_seconds(absl::IDivDuration(interval, absl::Seconds(1), &interval));
      request.mutable_sample_interval()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(interval)));
    }
    return request;
  }

  std::string Render(const v1::SubscribeResponse& response) const {
    if (format_.json()) return ToJsonLine(response) + "\n";
    const std::string skipped =
        response.skipped() == 0 ? "" : absl::StrCat(response.skipped(), " snapshots skipped, no counts lost\n");
    return skipped + SnapshotTable(response.update()) + "\n";
  }

  FilterOptions filter_;
  std::string interval_;
  uint64_t count_ = 0;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewWatchCommand() { return std::make_unique<WatchCommand>(); }

}  // namespace sideband::client

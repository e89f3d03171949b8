// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/csv_render.h"
#include "client/cli/empty_notes.h"
#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/reconnection.h"
#include "client/cli/render.h"
#include "client/cli/selection.h"
#include "client/cli/stream.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr absl::Duration kIntervalMin = absl::Milliseconds(10);  // the daemon rejects shorter intervals
constexpr absl::Duration kIntervalMax = absl::Hours(24);

// A CLI11 validator: returns the error message, or an empty text.
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
    app.add_flag("--no-reconnect", ends_with_connection_, "End when the connection is lost, with 1");
    format_.AddTo(app);
    app.footer(
        "With --format json, each update is one line. A connection that is lost is made again.\n"
        "Examples:\n"
        "  sideband watch --vm vm0 --interval 500ms\n"
        "  sideband watch --count 10 --format json");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(auto client, context.Connect());
    const auto selection = Selection::Resolve(filter_, *client);
    if (!selection.ok()) return ExplainNotFound(selection.status(), filter_, *client);
    if (format_.csv()) SIDEBAND_RETURN_IF_ERROR(context.out().Write(SnapshotCsvTitles()));
    StreamPrinter printer(context, count_);
    Reconnection reconnection(context);
    for (;;) {
      const absl::Status ended =
          printer.End(client->Subscribe(Request(*selection), [&](v1::SubscribeResponse response) {
            return OnResponse(*selection, *client, reconnection, response, printer, context);
          }));
      if (ended.ok()) return ended;
      if (ends_with_connection_ || !reconnection.Again(ended)) {
        return context.cancellation().cancelled() ? absl::OkStatus() : ExplainNotFound(ended, filter_, *client);
      }
      // A new client rereads certificates and token. The old client is destroyed first, which ends its pending calls.
      client.reset();
      SIDEBAND_ASSIGN_OR_RETURN(client, context.Connect());
    }
  }

 private:
  v1::SubscribeRequest Request(const Selection& selection) const {
    v1::SubscribeRequest request;
    *request.mutable_filter() = selection.filter();
    request.set_mode(v1::SubscribeRequest::MODE_STREAM);
    request.set_stream_mode(v1::SubscribeRequest::STREAM_MODE_SAMPLE);
    absl::Duration interval;
    if (absl::ParseDuration(interval_, &interval)) {
      request.mutable_sample_interval()->set_seconds(absl::IDivDuration(interval, absl::Seconds(1), &interval));
      request.mutable_sample_interval()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(interval)));
    }
    return request;
  }

  bool OnResponse(const Selection& selection, TelemetryClient& client, Reconnection& reconnection,
                  v1::SubscribeResponse& response, StreamPrinter& printer, CommandContext& context) {
    if (!response.has_update()) {
      reconnection.Received();
      // sync_response follows the initial snapshots. If none was printed, the selection is empty so far.
      if (response.sync_response()) NoteEmpty(selection, client, context);
      return true;
    }
    if (!reconnection.Received(response.update()) || !selection.Narrow(*response.mutable_update())) return true;
    is_empty_ = false;
    return printer.Print(Render(response));
  }

  // Explains an empty selection, once.
  void NoteEmpty(const Selection& selection, TelemetryClient& client, CommandContext& context) {
    if (!is_empty_) return;
    is_empty_ = false;
    for (const std::string& note : EmptyNotes(selection, ShownNames(), client)) context.Note(note);
  }

  std::string Render(const v1::SubscribeResponse& response) const {
    if (format_.json()) return ToJsonLine(response) + "\n";
    if (format_.csv()) return SnapshotCsv(response.update());
    const std::string skipped =
        response.skipped() == 0 ? "" : absl::StrCat(response.skipped(), " snapshots skipped, no counts lost\n");
    return skipped + SnapshotTable(response.update(), format_.style) + "\n";
  }

  FilterOptions filter_;
  std::string interval_;
  uint64_t count_ = 0;
  bool ends_with_connection_ = false;
  FormatOption format_;
  bool is_empty_ = true;  // nothing has been printed or noted so far
};

}  // namespace

std::unique_ptr<Command> NewWatchCommand() { return std::make_unique<WatchCommand>(); }

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/csv_render.h"
#include "client/cli/device_states.h"
#include "client/cli/empty_notes.h"
#include "client/cli/json.h"
#include "client/cli/message_text.h"
#include "client/cli/number_text.h"
#include "client/cli/options.h"
#include "client/cli/past_options.h"
#include "client/cli/reconnection.h"
#include "client/cli/render.h"
#include "client/cli/selection.h"
#include "client/cli/stream.h"
#include "client/cli/watch_lines.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr absl::Duration kIntervalMin = absl::Milliseconds(10);  // the daemon rejects shorter intervals
constexpr absl::Duration kIntervalMax = absl::Hours(24);
// A connection that is lost without a sign is noticed after two.
constexpr int64_t kHeartbeatSeconds = 10;

// A CLI11 validator: returns the error message, or an empty text.
std::string CheckInterval(const std::string& text) {
  const auto interval = ParseLength(text);
  return interval && *interval >= kIntervalMin && *interval <= kIntervalMax
             ? ""
             : absl::StrCat("'", text, "' is not a duration from 10ms to 24h, such as 5s");
}

absl::Duration IntervalOf(const std::string& text) { return ParseLength(text).value_or(absl::ZeroDuration()); }

const std::map<std::string, LineValue> kValues = {{"auto", LineValue::kAuto},
                                                  {"util", LineValue::kUtilisation},
                                                  {"rate", LineValue::kRate},
                                                  {"count", LineValue::kCount},
                                                  {"cover", LineValue::kCoverage}};

// Prints the updates of the streams of one run.
class Watch {
 public:
  Watch(const Selection& selection, const FormatOption& format, LineOptions lines, uint64_t count,
        absl::Duration interval, bool is_of_changes, CommandContext& context)
      : selection_(selection),
        format_(format),
        context_(context),
        style_(context.StyleOf(format.style)),
        lines_(lines, style_),
        printer_(context, count),
        reconnection_(context),
        states_(selection.options().devices, context, interval),
        is_of_changes_(is_of_changes) {}

  // One stream, to its end.
  absl::Status Stream(TelemetryClient& client, v1::SubscribeRequest request) {
    // Goes on where the last stream ended.
    request.set_resume_token(token_);
    const StreamTick tick{.period = DeviceStates::kPeriod, .action = [&] {
                            if (is_synced_ && !is_of_changes_) states_.Check(client);
                            return true;
                          }};
    is_synced_ = false;
    const absl::Status ended = client.Subscribe(
        request, [&](v1::SubscribeResponse response) { return OnResponse(response, client); }, tick);
    return has_nothing_to_come_ ? ended : printer_.End(ended);
  }
  bool Again(const absl::Status& ended) { return reconnection_.Again(ended); }
  absl::StatusOr<std::unique_ptr<TelemetryClient>> Connect() { return reconnection_.Connect(context_); }

 private:
  bool OnResponse(v1::SubscribeResponse& response, TelemetryClient& client) {
    token_ = response.resume_token();
    // It is for this command alone.
    response.clear_resume_token();
    switch (response.response_case()) {
      case v1::SubscribeResponse::kUpdate:
        return OnUpdate(response);
      case v1::SubscribeResponse::kChange:
        return OnChange(response);
      case v1::SubscribeResponse::kResumed:
        reconnection_.Received(response.resumed());
        return true;
      case v1::SubscribeResponse::kGap:
        OnGap(response.gap());
        return true;
      case v1::SubscribeResponse::kSensors:
      case v1::SubscribeResponse::kSyncResponse:
      case v1::SubscribeResponse::RESPONSE_NOT_SET:
        reconnection_.Received();
        return !response.sync_response() || Sync(client);
    }
    return true;
  }

  bool OnUpdate(v1::SubscribeResponse& response) {
    const v1::Snapshot& update = response.update();
    states_.Received(update.device(), ToDuration(update.age()));
    // A heartbeat has nothing that was not sent before.
    if (response.heartbeat()) {
      reconnection_.Received();
      return true;
    }
    const bool is_new = reconnection_.Received(update);
    if (!is_new || !selection_.Narrow(*response.mutable_update())) return true;
    is_empty_ = false;
    return printer_.Print(Render(response));
  }

  bool OnChange(v1::SubscribeResponse& response) {
    reconnection_.Received();
    if (response.heartbeat() || !selection_.Narrow(*response.mutable_change())) return true;
    is_empty_ = false;
    return printer_.Print(format_.json() ? ToJsonLine(response) + "\n"
                                         : ChangeLines(response.change(), context_.Now()));
  }

  void OnGap(const v1::Gap& gap) {
    reconnection_.Received(gap);
    // Of changes there is no snapshot with which to note it.
    if (is_of_changes_) context_.Note(GapText(gap));
  }

  // The initial snapshots have been received. If none was printed, the selection is empty so far: explains that, once.
  // Returns whether anything is to come.
  bool Sync(TelemetryClient& client) {
    is_synced_ = true;
    if (is_of_changes_) return true;
    if (!is_empty_) {
      states_.Check(client);
      return true;
    }
    is_empty_ = false;
    for (const std::string& note : EmptyNotes(selection_, ShownNames(), client)) context_.Note(note);
    states_.Learn(client);
    has_nothing_to_come_ = states_.AreBoardsAlone();
    return !has_nothing_to_come_;
  }

  std::string Render(const v1::SubscribeResponse& response) {
    if (format_.json()) return ToJsonLine(response) + "\n";
    if (format_.csv()) return SnapshotCsv(response.update());
    if (format_.lines()) return Lines(response.update());
    const std::string skipped = response.skipped() == 0 ? ""
                                                        : absl::StrCat(PluralText(response.skipped(), "snapshot"),
                                                                       " skipped, no counts lost\n");
    return skipped + SnapshotTable(response.update(), style_) + "\n";
  }

  std::string Lines(const v1::Snapshot& snapshot) {
    const std::optional<TerminalSize> terminal = context_.Terminal();
    std::string text = lines_.Render(snapshot, terminal ? terminal->rows : 0);
    for (const std::string& note : lines_.TakeNotes()) context_.Note(note);
    const size_t shown = lines_.shown_events(), all = lines_.events();
    if (!is_cut_noted_ && shown < all) {
      is_cut_noted_ = true;
      context_.Note(absl::StrCat(shown, " of ", all, " events fit the line: --event chooses, --wide shows all"));
    }
    return text;
  }

  const Selection& selection_;
  const FormatOption& format_;
  CommandContext& context_;
  const TableStyle style_;
  WatchLines lines_;
  StreamPrinter printer_;
  Reconnection reconnection_;
  DeviceStates states_;
  const bool is_of_changes_;
  std::string token_;          // of the last response
  bool is_empty_ = true;       // nothing has been printed or noted so far
  bool is_synced_ = false;     // the stream's initial snapshots have been received
  bool is_cut_noted_ = false;  // that events have no column
  bool has_nothing_to_come_ = false;
};

class WatchCommand final : public Command {
 public:
  std::string name() const override { return "watch"; }
  std::string description() const override { return "Print counters and rates as they are read, until Ctrl-C"; }

  void Define(CLI::App& app) override {
    filter_.AddTo(app);
    app.add_option("--interval", interval_,
                   "Time between updates, such as 500ms, or seconds; default: the device's own")
        ->check(CheckInterval)
        ->type_name("DURATION");
    app.add_option("-n,--count", count_, "End after this number of updates; default: go on until Ctrl-C")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
        ->type_name("N");
    app.add_option("--value", value_,
                   "Columns of lines: util, rate, count, cover (the share of the time in which it was "
                   "counted) or auto (util where there is one, or rate)")
        ->check(CLI::IsMember(kValues))
        ->type_name("VALUE")
        ->capture_default_str();
    app.add_flag("--contexts", lines_.contexts, "Lines of contexts, too");
    app.add_flag("--on-change", is_of_changes_,
                 "Print what changes of devices, scopes, limits and marks, and events of boards, in place of counters")
        ->excludes("--interval", "--value", "--contexts");
    app.add_flag("--no-reconnect", ends_with_connection_, "End when the connection is lost, with 1");
    format_.AddWithLinesTo(app);
    app.footer(
        "A line per device and VM; --event chooses the columns. With --format json, each update is one line; with\n"
        "--format table, a table. A connection that is lost is made again, and what was missed follows, as far as the\n"
        "daemon has kept it.\n"
        "Examples:\n"
        "  sideband watch --vm vm1 --interval 500ms\n"
        "  sideband watch --event 'dram_*' --event sm_active_cycles --value rate\n"
        "  sideband watch --count 10 --format json\n"
        "  sideband watch --on-change");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(auto client, context.Connect());
    const auto selection = Selection::Resolve(filter_, *client);
    if (!selection.ok()) return ExplainNotFound(selection.status(), filter_, *client);
    if (is_of_changes_ && !format_.lines() && !format_.json()) {
      return absl::InvalidArgumentError("--on-change: --format must be lines or json");
    }
    if (format_.csv()) SIDEBAND_RETURN_IF_ERROR(context.out().Write(SnapshotCsvTitles()));
    lines_.value = kValues.at(value_);
    lines_.all_events = !filter_.events.empty();
    Watch watch(*selection, format_, lines_, count_, IntervalOf(interval_), is_of_changes_, context);
    for (;;) {
      const absl::Status ended = watch.Stream(*client, Request(*selection));
      if (ended.ok()) return ended;
      if (ends_with_connection_ || !watch.Again(ended)) {
        return context.cancellation().cancelled() ? absl::OkStatus() : ExplainNotFound(ended, filter_, *client);
      }
      // A new client rereads certificates and token. The old client is destroyed first, which ends its pending calls.
      client.reset();
      auto connected = watch.Connect();
      if (!connected.ok()) return context.cancellation().cancelled() ? absl::OkStatus() : connected.status();
      client = *std::move(connected);
    }
  }

 private:
  v1::SubscribeRequest Request(const Selection& selection) const {
    v1::SubscribeRequest request;
    *request.mutable_filter() = selection.filter();
    request.set_mode(v1::SubscribeRequest::MODE_STREAM);
    request.set_stream_mode(is_of_changes_ ? v1::SubscribeRequest::STREAM_MODE_ON_CHANGE
                                           : v1::SubscribeRequest::STREAM_MODE_SAMPLE);
    request.mutable_heartbeat_interval()->set_seconds(kHeartbeatSeconds);
    if (absl::Duration interval = IntervalOf(interval_); interval > absl::ZeroDuration()) {
      request.mutable_sample_interval()->set_seconds(absl::IDivDuration(interval, absl::Seconds(1), &interval));
      request.mutable_sample_interval()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(interval)));
    }
    return request;
  }

  FilterOptions filter_;
  std::string interval_;
  std::string value_ = "auto";
  uint64_t count_ = 0;
  bool is_of_changes_ = false;
  bool ends_with_connection_ = false;
  LineOptions lines_;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewWatchCommand() { return std::make_unique<WatchCommand>(); }

}  // namespace sideband::client

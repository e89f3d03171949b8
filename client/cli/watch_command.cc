// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/cli/empty_notes.h"
#include "client/cli/formats.h"
#include "client/cli/hosts.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/stream.h"
#include "client/cli/table.h"
#include "client/cli/watch_lines.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

// A connection that is lost without a sign is noticed after two.
constexpr int64_t kHeartbeatSeconds = 10;

const std::map<std::string, LineValue> kValues = {{"auto", LineValue::kAuto},
                                                  {"util", LineValue::kUtilisation},
                                                  {"rate", LineValue::kRate},
                                                  {"count", LineValue::kCount},
                                                  {"cover", LineValue::kCoverage}};

// Counts rounds: one has an update of each device that sends any. Because a device may fall silent, a round also ends
// before the second update of another.
class Rounds {
 public:
  explicit Rounds(size_t streams) : unsynced_(streams) {}

  bool EndsBefore(const std::string& device) const { return updated_.contains(device); }
  // Takes the device's update; returns whether the round ends with it.
  bool EndsWith(const std::string& device) {
    updated_.insert(device);
    return is_begun_ && std::ranges::includes(updated_, expected_);
  }
  // The initial snapshots of a stream have been received: those of all are the first round, if there are any.
  bool EndsWithSync() {
    if (--unsynced_ > 0 || is_begun_) return false;
    is_begun_ = true;
    return !updated_.empty();
  }
  void End() {
    is_begun_ = true;
    expected_ = std::move(updated_);
    updated_.clear();
  }

 private:
  size_t unsynced_;
  std::set<std::string> updated_;   // in this round
  std::set<std::string> expected_;  // those of the last one
  bool is_begun_ = false;           // whether the devices of a round are known
};

// The output of the streams of all hosts. Thread-safe. Each function returns whether the streams go on; when they do
// not, those of several hosts are cancelled.
class WatchOutput {
 public:
  WatchOutput(const FormatOption& format, LineOptions lines, uint64_t count, size_t hosts, CommandContext& context)
      : format_(format),
        are_several_(hosts > 1),
        context_(context),
        style_(context.StyleOf(format.style)),
        lines_(lines, style_),
        printer_(context, count),
        rounds_(hosts) {}

  // A stream begins: prints the titles that come once.
  bool Begin() ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::MutexLock lock(&mu_);
    if (!format_.csv() || std::exchange(has_titles_, true)) return true;
    return MayGoOn(printer_.Write(WithHostColumn(SnapshotCsvTitles(), are_several_ ? "host" : "")));
  }
  bool Update(const std::string& host, const v1::SubscribeResponse& response) ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::MutexLock lock(&mu_);
    const std::string device = absl::StrCat(host, " ", response.update().device());
    if (rounds_.EndsBefore(device) && !EndRound()) return false;
    if (!MayGoOn(printer_.Write(Render(host, response)))) return false;
    return !rounds_.EndsWith(device) || EndRound();
  }
  bool Change(const std::string& host, const v1::SubscribeResponse& response) ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::MutexLock lock(&mu_);
    return MayGoOn(printer_.Print(format_.json() ? WithHostMember(ToJsonLine(response), host) + "\n"
                                                 : ChangeLines(response.change(), context_.Now(), host)));
  }
  // To be called once for each host, when it has sent its initial snapshots, or will send none.
  bool Sync() ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::MutexLock lock(&mu_);
    return !rounds_.EndsWithSync() || EndRound();
  }
  absl::Status End(const absl::Status& stream) const ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::MutexLock lock(&mu_);
    return printer_.End(stream);
  }

 private:
  bool MayGoOn(bool may_go_on) {
    if (!may_go_on && are_several_) context_.cancellation().Cancel();
    return may_go_on;
  }

  bool EndRound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    rounds_.End();
    return MayGoOn(printer_.Count());
  }

  std::string Render(const std::string& host, const v1::SubscribeResponse& response)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (format_.json()) return WithHostMember(ToJsonLine(response), host) + "\n";
    if (format_.csv()) return WithHostColumn(SnapshotCsv(response.update()), host);
    if (format_.lines()) return Lines(host, response.update());
    const std::string skipped = response.skipped() == 0 ? ""
                                                        : absl::StrCat(PluralText(response.skipped(), "snapshot"),
                                                                       " skipped, no counts lost\n");
    v1::Snapshot snapshot = response.update();
    snapshot.set_device(NameAtHost(host, snapshot.device()));
    return skipped + SnapshotTable(snapshot, style_) + "\n";
  }

  std::string Lines(const std::string& host, const v1::Snapshot& snapshot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const std::optional<TerminalSize> terminal = context_.Terminal();
    std::string text = lines_.Render(snapshot, terminal ? terminal->rows : 0, host);
    for (const std::string& note : lines_.TakeNotes()) context_.Note(note);
    const size_t shown = lines_.shown_events(), all = lines_.events();
    if (!is_cut_noted_ && shown < all) {
      is_cut_noted_ = true;
      context_.Note(absl::StrCat(shown, " of ", all, " events fit the line: --event chooses, --wide shows all"));
    }
    return text;
  }

  const FormatOption& format_;
  const bool are_several_;
  CommandContext& context_;
  const TableStyle style_;

  mutable absl::Mutex mu_;
  WatchLines lines_ ABSL_GUARDED_BY(mu_);
  StreamPrinter printer_ ABSL_GUARDED_BY(mu_);
  Rounds rounds_ ABSL_GUARDED_BY(mu_);
  bool has_titles_ ABSL_GUARDED_BY(mu_) = false;
  bool is_cut_noted_ ABSL_GUARDED_BY(mu_) = false;  // that events have no column
};

// Tells the output once that a host has sent its initial snapshots, at the latest when the host has ended.
class FirstSync {
 public:
  explicit FirstSync(WatchOutput& output) : output_(output) {}
  ~FirstSync() { (void)Tell(); }
  FirstSync(const FirstSync&) = delete;
  FirstSync& operator=(const FirstSync&) = delete;

  bool Tell() { return std::exchange(is_told_, true) || output_.Sync(); }

 private:
  WatchOutput& output_;
  bool is_told_ = false;
};

// Prints the updates of the streams of one host.
class Watch {
 public:
  Watch(Host& host, const Selection& selection, absl::Duration interval, bool is_of_changes, WatchOutput& output,
        FirstSync& first_sync)
      : host_(host.name),
        selection_(selection),
        context_(host.context),
        output_(output),
        first_sync_(first_sync),
        reconnection_(context_),
        states_(selection.options().devices, context_, interval),
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
    return has_nothing_to_come_ ? ended : output_.End(ended);
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
    return output_.Update(host_, response);
  }

  bool OnChange(v1::SubscribeResponse& response) {
    reconnection_.Received();
    if (response.heartbeat() || !selection_.Narrow(*response.mutable_change())) return true;
    is_empty_ = false;
    return output_.Change(host_, response);
  }

  void OnGap(const v1::Gap& gap) {
    reconnection_.Received(gap);
    // A stream of changes has no snapshot with which to note it.
    if (is_of_changes_) context_.Note(GapText(gap));
  }

  // The initial snapshots have been received. If none was printed, the selection is empty so far: explains that, once.
  // Returns whether anything is to come.
  bool Sync(TelemetryClient& client) {
    is_synced_ = true;
    if (is_of_changes_) return true;
    if (!first_sync_.Tell()) return false;
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

  const std::string host_;
  const Selection& selection_;
  CommandContext& context_;
  WatchOutput& output_;
  FirstSync& first_sync_;
  Reconnection reconnection_;
  DeviceStates states_;
  const bool is_of_changes_;
  std::string token_;       // of the last response
  bool is_empty_ = true;    // nothing has been printed or noted so far
  bool is_synced_ = false;  // the stream's initial snapshots have been received
  bool has_nothing_to_come_ = false;
};

class WatchCommand final : public Command {
 public:
  std::string name() const override { return "watch"; }
  std::string description() const override { return "Print counters and rates as they are read, until Ctrl-C"; }

  void Define(CLI::App& app) override {
    filter_.AddTo(app);
    interval_.AddTo(app);
    app.add_option("-n,--count", count_,
                   "End after this number of rounds (an update of each device), or of changes; default: go on until "
                   "Ctrl-C")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
        ->type_name("N");
    app.add_option("--value", value_,
                   "Values in lines: util, rate, count, cover (the share of the time in which the event was counted) "
                   "or auto (util if the event has one, else rate)")
        ->check(CLI::IsMember(kValues))
        ->type_name("VALUE")
        ->capture_default_str();
    app.add_flag("--contexts", lines_.contexts, "Also print lines for contexts");
    app.add_flag("--on-change", is_of_changes_,
                 "Print changes of devices, scopes, limits and marks, and events of boards, instead of counters")
        ->excludes("--interval", "--value", "--contexts");
    app.add_flag("--no-reconnect", ends_with_connection_, "End with exit status 1 when the connection is lost");
    format_.AddWithLinesTo(app);
    app.footer(
        "A line per device and VM; --event chooses the columns. With --format json, each update is one line; with\n"
        "--format table, a table. A lost connection is made again; updates that were missed follow, as far as the\n"
        "daemon has kept them. A list of addresses asks several daemons.\n"
        "Examples:\n"
        "  sideband watch --vm vm1 --interval 500ms\n"
        "  sideband watch --event 'dram_*' --event sm_active_cycles --value rate\n"
        "  sideband watch --count 10 --format json\n"
        "  sideband watch --on-change");
  }

  absl::Status Run(CommandContext& context) override {
    if (is_of_changes_ && !format_.lines() && !format_.json()) {
      return absl::InvalidArgumentError("--on-change: --format must be lines or json");
    }
    SIDEBAND_ASSIGN_OR_RETURN(std::vector<Host> hosts, HostsOf(context));
    lines_.value = kValues.at(value_);
    lines_.all_events = !filter_.events.empty();
    WatchOutput output(format_, lines_, count_, hosts.size(), context);
    HostErrors errors(context);
    std::vector<absl::Status> ended(hosts.size());
    SIDEBAND_RETURN_IF_ERROR(AskEach(hosts, [&](size_t i, std::unique_ptr<TelemetryClient> client) {
      ended[i] = errors.Add(hosts[i], Follow(hosts[i], std::move(client), output));
      if (!ended[i].ok() && hosts.size() > 1) context.cancellation().Cancel();
    }));
    for (const absl::Status& status : ended) SIDEBAND_RETURN_IF_ERROR(status);
    return errors.Result();
  }

 private:
  absl::Status Follow(Host& host, std::unique_ptr<TelemetryClient> client, WatchOutput& output) const {
    FirstSync first_sync(output);
    const auto selection = Selection::Resolve(filter_, *client);
    if (!selection.ok()) {
      if (host.context.cancellation().cancelled()) return absl::OkStatus();
      return ExplainNotFound(selection.status(), filter_, *client);
    }
    if (!output.Begin()) return output.End(absl::OkStatus());
    Watch watch(host, *selection, interval_.value(), is_of_changes_, output, first_sync);
    for (;;) {
      const absl::Status ended = watch.Stream(*client, Request(*selection));
      if (ended.ok()) return ended;
      if (ends_with_connection_ || !watch.Again(ended)) {
        return host.context.cancellation().cancelled() ? absl::OkStatus() : ExplainNotFound(ended, filter_, *client);
      }
      // A new client rereads certificates and token. The old client is destroyed first, which ends its pending calls.
      client.reset();
      auto connected = watch.Connect();
      if (!connected.ok()) return host.context.cancellation().cancelled() ? absl::OkStatus() : connected.status();
      client = *std::move(connected);
    }
  }

  v1::SubscribeRequest Request(const Selection& selection) const {
    v1::SubscribeRequest request;
    *request.mutable_filter() = selection.filter();
    request.set_mode(v1::SubscribeRequest::MODE_STREAM);
    request.set_stream_mode(is_of_changes_ ? v1::SubscribeRequest::STREAM_MODE_ON_CHANGE
                                           : v1::SubscribeRequest::STREAM_MODE_SAMPLE);
    request.mutable_heartbeat_interval()->set_seconds(kHeartbeatSeconds);
    SetSampleInterval(interval_.value(), request);
    return request;
  }

  FilterOptions filter_;
  IntervalOption interval_;
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

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/cli/empty_notes.h"
#include "client/cli/formats.h"
#include "client/cli/hosts.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/table.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {
namespace {

using Json = nlohmann::ordered_json;

// The history point of entry `i` of a series' columns; nullptr if the response is malformed and has no such point.
const v1::HistoryPoint* PointAt(const v1::DeviceHistory& device, const v1::HistorySeries& series, int i) {
  const uint64_t point = uint64_t{series.first_point()} + static_cast<uint64_t>(i);
  return point < static_cast<uint64_t>(device.points_size()) ? &device.points(static_cast<int>(point)) : nullptr;
}

// The share of the time for which a count stands; nullopt for an event that is in no gate group.
std::optional<double> CoverageAt(const v1::HistoryColumn& column, int i) {
  const auto& coverage = column.coverage().of_counts();
  return i < coverage.size() ? std::optional(coverage[i]) : std::nullopt;
}

// Whether the counts are estimates: they have bounds, or, of an older daemon, the row's flag.
bool IsEstimatedAt(const v1::HistoryColumn& column, const v1::HistorySeries& series, const v1::HistoryStatus& status) {
  const auto has_lowers = [](const v1::HistoryColumn& other) { return !other.lowers().empty(); };
  if (has_lowers(column) || !IsEstimated(status.flags())) return has_lowers(column);
  return std::ranges::none_of(series.columns(), has_lowers);
}

// Whether the event was counted between the previous point and this one.
bool IsCountedAt(const v1::HistoryColumn& column, int i) {
  const auto& coverage = column.coverage().of_intervals();
  return i >= coverage.size() || coverage[i] != 0;
}

// The rate per second of the device's reference clock since the previous point. nullopt for the first point, and if the
// event was not counted, or the count or the clock decreased.
std::optional<double> RateAt(const v1::DeviceHistory& device, const v1::HistorySeries& series,
                             const v1::HistoryColumn& column, int i) {
  if (i == 0 || column.counts(i) < column.counts(i - 1) || !IsCountedAt(column, i)) return std::nullopt;
  const v1::HistoryPoint* const before = PointAt(device, series, i - 1);
  const v1::HistoryPoint* const now = PointAt(device, series, i);
  if (before == nullptr || now == nullptr || now->reference_time_ns() <= before->reference_time_ns()) {
    return std::nullopt;
  }
  const double seconds = static_cast<double>(now->reference_time_ns() - before->reference_time_ns()) / 1e9;
  return static_cast<double>(column.counts(i) - column.counts(i - 1)) / seconds;
}

std::string EventName(const v1::DeviceHistory& device, uint32_t event) {
  return event < static_cast<uint32_t>(device.events_size()) ? device.events(static_cast<int>(event))
                                                             : absl::StrCat(event);
}

std::string ScopeName(const v1::Scope& scope) {
  return absl::StrCat(scope.vm_uuid(), "/", VmText(scope), "/", scope.context());
}

// The status at each point of a series. Points must be requested in ascending order.
class StatusWalk {
 public:
  explicit StatusWalk(const v1::HistorySeries& series) : series_(series) {}

  const v1::HistoryStatus& At(int i) {
    const uint64_t point = uint64_t{series_.first_point()} + static_cast<uint64_t>(i);
    while (next_ < series_.statuses_size() && series_.statuses(next_).point() <= point) ++next_;
    return next_ == 0 ? v1::HistoryStatus::default_instance() : series_.statuses(next_ - 1);
  }

 private:
  const v1::HistorySeries& series_;
  int next_ = 0;
};

// One counter of a series at one point.
struct Entry {
  const v1::HistorySeries& series;
  const v1::HistoryPoint& point;
  const v1::HistoryStatus& status;
  std::string event;
  uint64_t count;
  std::optional<double> rate;
  std::optional<double> coverage;
  bool is_estimate;
  bool is_restart;  // the first entry of a series that succeeds another of the same scope
};

template <typename OnEntry>
void ForEachOf(const v1::DeviceHistory& device, const v1::HistorySeries& series, const v1::HistoryColumn& column,
               bool is_restart, OnEntry on_entry) {
  StatusWalk statuses(series);
  bool is_first = is_restart;
  for (int i = 0; i < column.counts_size(); ++i) {
    const v1::HistoryPoint* const point = PointAt(device, series, i);
    if (point == nullptr) return;
    auto coverage = CoverageAt(column, i);
    if (coverage == 0) continue;  // the count has no meaning
    const bool is_estimate = IsEstimatedAt(column, series, statuses.At(i));
    // The history has none of estimates.
    if (is_estimate && coverage && std::isnan(*coverage)) coverage.reset();
    on_entry(Entry{series, *point, statuses.At(i), EventName(device, column.event()), column.counts(i),
                   RateAt(device, series, column, i), coverage, is_estimate, std::exchange(is_first, false)});
  }
}

template <typename OnEntry>
void ForEach(const v1::DeviceHistory& device, OnEntry on_entry) {
  std::set<std::string> seen;
  for (const v1::HistorySeries& series : device.series()) {
    // The daemon begins a new series of a scope when its counters have restarted.
    const bool is_restart = !seen.insert(ScopeName(series.scope())).second;
    for (const v1::HistoryColumn& column : series.columns()) ForEachOf(device, series, column, is_restart, on_entry);
  }
}

std::string Notes(const Entry& entry) {
  std::vector<std::string> notes(entry.status.flags().begin(), entry.status.flags().end());
  if (!entry.coverage || *entry.coverage >= 1) std::erase(notes, "partial");
  if (!entry.is_estimate) std::erase(notes, "estimated");
  if (entry.status.state() != v1::ScopeCounters::STATE_ACTIVE) {
    notes.insert(notes.begin(), StateText(entry.status.state()));
  }
  if (entry.is_restart) notes.insert(notes.begin(), "restarted");
  return absl::StrJoin(notes, ",");
}

std::string Heading(const v1::DeviceHistory& device, const std::string& step, const TableStyle& style) {
  const int points = device.points_size();
  const std::string range = points == 0 ? ""
                                        : absl::StrCat(TimeText(ToTime(device.points(0).host_time())), " to ",
                                                       TimeText(ToTime(device.points(points - 1).host_time())));
  return WrappedFields({Visible(device.device()), PluralText(static_cast<uint64_t>(points), "point"), range, step,
                        absl::StrCat("history since ", TimeText(ToTime(device.oldest())))},
                       style);
}

std::string DeviceTable(const v1::DeviceHistory& device, const std::string& step, const TableStyle& style) {
  if (device.points().empty()) return Heading(device, step, style);
  using Fit = Table::Fit;
  constexpr auto kLeft = Table::Align::kLeft;
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"TIME"},
               {"SLICE", kRight, Fit::kWideOnly},
               {"VM", kLeft, Fit::kMiddle},
               {"CONTEXT", kLeft, Fit::kMiddle},
               {"EVENT", kLeft, Fit::kMiddle},
               {"COUNT", kRight},
               {"RATE", kRight},
               {"COVER", kRight, Fit::kRare},
               {"NOTES", kLeft, Fit::kIfAny}});
  const std::string format = TimeColumnFormat(ToTime(device.points().begin()->host_time()),
                                              ToTime(device.points().rbegin()->host_time()), style);
  ForEach(device, [&](const Entry& entry) {
    const v1::Scope& scope = entry.series.scope();
    const auto marked = [&](std::string text) {
      return entry.is_estimate ? EstimateText(std::move(text), style) : std::move(text);
    };
    table.Add({absl::FormatTime(format, ToTime(entry.point.host_time()), absl::UTCTimeZone()), SliceText(scope),
               VmText(scope), scope.context(), entry.event, marked(CountText(entry.count, style)),
               marked(entry.rate ? ScaledText(*entry.rate, "/s", style) : ""),
               entry.coverage ? CoverageText(*entry.coverage, style) : "", Notes(entry)});
  });
  return Heading(device, step, style) + table.Render(style);
}

std::string EntryLine(const v1::DeviceHistory& device, const Entry& entry) {
  const v1::Scope& scope = entry.series.scope();
  return CsvLine({device.device(), TimeText(ToTime(entry.point.host_time())),
                  CsvNumber(absl::ToDoubleSeconds(ToDuration(entry.point.host_time_error()))),
                  absl::StrCat(entry.point.reference_time_ns()), absl::StrCat(entry.point.snapshot_id()),
                  BootIdText(entry.series.boot_id()), SliceText(scope), VmText(scope), scope.vm_uuid(), scope.context(),
                  absl::StrCat(scope.generation()), StateText(entry.status.state()), entry.event,
                  absl::StrCat(entry.count), entry.rate ? CsvNumber(*entry.rate) : "", entry.is_restart ? "yes" : "no",
                  absl::StrJoin(entry.status.flags(), " ")});
}

// For each device a line about its history, then a row per counter and point. The first row of a series that succeeds
// another of the same scope is marked "restarted" and has no rate. Times are without their date if all points are of
// one day, unless the style is wide.
std::string HistoryTables(const v1::GetHistoryResponse& response, const TableStyle& style) {
  const std::string step =
      response.has_step() ? absl::StrCat("step ", absl::FormatDuration(ToDuration(response.step()))) : "";
  std::vector<std::string> tables;
  for (const v1::DeviceHistory& device : response.devices()) tables.push_back(DeviceTable(device, step, style));
  return absl::StrJoin(tables, "\n");
}

// The titles once, then a line per counter and point of each daemon's answer, in the format of formats.h.
std::string HistoryCsvTitles() {
  return CsvLine({"device", "host_time", "host_time_error_seconds", "reference_time_ns", "snapshot_id", "boot_id",
                  "slice", "vm", "vm_uuid", "context", "generation", "state", "event", "count", "rate_per_second",
                  "restarted", "flags"});
}

std::string HistoryCsv(const v1::GetHistoryResponse& response) {
  std::string text;
  for (const v1::DeviceHistory& device : response.devices()) {
    ForEach(device, [&](const Entry& entry) { text += EntryLine(device, entry); });
  }
  return text;
}

// Like ToJson, with `rates_per_second` beside the `counts` of each column: for each point the rate since the previous
// point; null if it is unknown.
std::string HistoryJson(const v1::GetHistoryResponse& response) {
  const std::string text = ToJson(response);
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  // protobuf writes nothing for a time that a calendar does not have.
  if (!json.is_object()) return text;
  for (int d = 0; d < response.devices_size(); ++d) {
    const v1::DeviceHistory& device = response.devices(d);
    for (int s = 0; s < device.series_size(); ++s) {
      for (int c = 0; c < device.series(s).columns_size(); ++c) {
        const v1::HistoryColumn& column = device.series(s).columns(c);
        Json& shown = json["devices"][d]["series"][s]["columns"][c];
        if (column.lowers().empty()) shown.erase("lowers");  // the counts are exact
        Json& rates = shown["rates_per_second"] = Json::array();
        for (int i = 0; i < column.counts_size(); ++i) {
          const auto rate = RateAt(device, device.series(s), column, i);
          rates.push_back(rate ? Json(*rate) : Json(nullptr));
        }
      }
    }
  }
  return json.dump(1) + "\n";
}

class GetCommand final : public Command {
 public:
  std::string name() const override { return "get"; }
  std::string description() const override { return "Print the newest counters, or past ones"; }

  void Define(CLI::App& app) override {
    filter_.AddTo(app);
    CLI::Option* const since = past_.AddTo(app);
    app.add_flag("--bounds", has_bounds_, "Print the lower and the upper bound of each estimate, too")->excludes(since);
    format_.AddTo(app);
    app.footer(
        "With --since, a rate is the mean from one point to the next. A list of addresses asks several daemons.\n"
        "Examples:\n"
        "  sideband get --vm vm1\n"
        "  sideband get --device gpu0 --event sm_active_cycles --event 'dram_*' --format json\n"
        "  sideband get --vm vm1 --event sm_active_cycles --since 5m --step 10s\n"
        "  sideband get --address a:9878,b:9878 --event sm_active_cycles");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_RETURN_IF_ERROR(past_.Check(context.Now()));
    SIDEBAND_ASSIGN_OR_RETURN(std::vector<Host> hosts, HostsOf(context));
    std::vector<absl::StatusOr<std::string>> answers(hosts.size());
    SIDEBAND_RETURN_IF_ERROR(
        AskEach(hosts, [&](size_t i, const auto& client) { answers[i] = Ask(hosts[i], *client); }));
    HostErrors errors(context);
    std::vector<std::string> texts;
    for (size_t i = 0; i < hosts.size(); ++i) {
      absl::StatusOr<std::string>& text = answers[i];
      SIDEBAND_RETURN_IF_ERROR(errors.Add(hosts[i], text.status()));
      if (text.ok() && (format_.csv() || !text->empty())) texts.push_back(*std::move(text));
    }
    SIDEBAND_RETURN_IF_ERROR(context.out().Write(Joined(texts, hosts.size() > 1)));
    return errors.Result();
  }

 private:
  // The answers of all hosts. There are titles only if there is an answer.
  std::string Joined(const std::vector<std::string>& texts, bool are_several) const {
    if (texts.empty()) return "";
    if (format_.json()) return HostsJson(texts, are_several);
    if (!format_.csv()) return absl::StrJoin(texts, "\n");
    const Bounds bounds = has_bounds_ ? Bounds::kShown : Bounds::kHidden;
    const std::string titles = past_.is_wanted() ? HistoryCsvTitles() : SnapshotCsvTitles(bounds);
    return WithHostColumn(titles, are_several ? "host" : "") + absl::StrJoin(texts, "");
  }

  absl::StatusOr<std::string> Ask(Host& host, TelemetryClient& client) const {
    const auto selection = Selection::Resolve(filter_, client);
    if (!selection.ok()) return ExplainNotFound(selection.status(), filter_, client);
    auto text = past_.is_wanted() ? AskHistory(*selection, client, host) : AskSnapshots(*selection, client, host);
    if (!text.ok()) return ExplainNotFound(text.status(), filter_, client);
    return text;
  }

  absl::StatusOr<std::string> AskSnapshots(const Selection& selection, TelemetryClient& client, Host& host) const {
    v1::GetSnapshotRequest request;
    *request.mutable_filter() = selection.filter();
    SIDEBAND_ASSIGN_OR_RETURN(auto response, client.GetSnapshot(request));
    if (response.snapshots().empty()) SIDEBAND_RETURN_IF_ERROR(CheckAnswered(filter_.devices, client));
    selection.Narrow(response);
    NoteEmptySnapshot(selection, response, client, host.context);
    for (const std::string& note : StaleNotes(response)) host.context.Note(note);
    if (format_.json()) return WithHostMember(ToJson(response), host.name);
    const Bounds bounds = has_bounds_ ? Bounds::kShown : Bounds::kHidden;
    if (!format_.csv()) {
      for (v1::Snapshot& snapshot : *response.mutable_snapshots())
        snapshot.set_device(NameAtHost(host.name, snapshot.device()));
      return SnapshotTables(response, host.context.StyleOf(format_.style), bounds);
    }
    std::string text;
    for (const v1::Snapshot& snapshot : response.snapshots()) text += SnapshotCsv(snapshot, bounds);
    return WithHostColumn(text, host.name);
  }

  static void NoteEmptySnapshot(const Selection& selection, const v1::GetSnapshotResponse& response,
                                TelemetryClient& client, CommandContext& context) {
    const ShownNames shown = ShownNames::Of(response);
    const auto notes = EmptyNotes(selection, shown, client);
    for (const std::string& note : notes) context.Note(note);
    if (notes.empty() && shown.events.empty()) context.Note("nothing that this caller may see matches");
  }

  absl::StatusOr<std::string> AskHistory(const Selection& selection, TelemetryClient& client, Host& host) const {
    v1::GetHistoryRequest request;
    *request.mutable_filter() = selection.filter();
    past_.FillIn(host.context.Now(), request);
    auto response = client.GetHistory(request);
    if (absl::IsUnimplemented(response.status())) {
      return MarkRemote(absl::UnimplementedError("the daemon has no history: it is older than this program"));
    }
    SIDEBAND_RETURN_IF_ERROR(response.status());
    selection.Narrow(*response);
    NoteEmptyHistory(selection, *response, client, host.context);
    if (format_.json()) return WithHostMember(HistoryJson(*response), host.name);
    if (format_.csv()) return WithHostColumn(HistoryCsv(*response), host.name);
    for (v1::DeviceHistory& device : *response->mutable_devices())
      device.set_device(NameAtHost(host.name, device.device()));
    return HistoryTables(*response, host.context.StyleOf(format_.style));
  }

  static void NoteEmptyHistory(const Selection& selection, const v1::GetHistoryResponse& response,
                               TelemetryClient& client, CommandContext& context) {
    const ShownNames shown = ShownNames::Of(response);
    if (response.devices().empty()) {
      context.Note("no history yet");
    } else if (shown.events.empty()) {
      context.Note("the history has no points in that time");
    }
    // Without counters in that time and without --event, the note above is the explanation.
    if (shown.events.empty() && selection.options().events.empty()) return;
    for (const std::string& note : EmptyNotes(selection, shown, client)) context.Note(note);
  }

  FilterOptions filter_;
  PastOptions past_;
  bool has_bounds_ = false;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewGetCommand() { return std::make_unique<GetCommand>(); }

}  // namespace sideband::client

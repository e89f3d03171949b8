// SPDX-License-Identifier: Apache-2.0
#include "client/cli/sensor_commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/cli/formats.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/stream.h"
#include "client/cli/table.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

using enum Table::Align;
constexpr char kInfo[] = "sideband_board_info", kInfoName[] = "board";

std::string PlainText(double value, const TableStyle&) {
  return std::trunc(value) == value ? absl::StrFormat("%.0f", value) : absl::StrFormat("%.3f", value);
}
std::string CelsiusText(double value, const TableStyle&) { return absl::StrFormat("%.1f °C", value); }
std::string WattsText(double value, const TableStyle&) { return absl::StrFormat("%.1f W", value); }
std::string JoulesText(double value, const TableStyle& style) { return ScaledText(value, "J", style); }
std::string HertzText(double value, const TableStyle& style) { return ScaledText(value, "Hz", style); }
// The status page shows the size of a memory in the same way.
std::string MemoryText(double value, const TableStyle& style) { return BinaryText(value, "B", style); }
std::string BytesText(double value, const TableStyle& style) { return ScaledText(value, "B", style); }
std::string BandwidthText(double value, const TableStyle& style) { return ScaledText(value, "B/s", style); }
std::string BitsText(double value, const TableStyle& style) { return ScaledText(value, "bit/s", style); }

// The first one that a name ends with is its unit.
constexpr struct {
  const char* suffix;
  std::string (*text)(double value, const TableStyle& style);
} kUnits[] = {
    {"_celsius", CelsiusText},
    {"_watts", WattsText},
    {"_joules_total", JoulesText},
    {"_hertz", HertzText},
    {"_bytes_per_second", BandwidthText},
    {"_bits_per_second", BitsText},
    {"_bytes_total", BytesText},
    {"_bytes", MemoryText},
    {"_ratio", ShareText},
};

void AddInfo(const std::string& device, const v1::Sensor& sensor, Table& table) {
  for (const v1::SensorLabel& label : sensor.labels()) table.Add({device, kInfoName, label.name(), label.value()});
}

std::string MessageText(const v1::DriverMessage& message) {
  return absl::StrCat("xid ", message.xid(), ", number ", message.sequence(), ", ", TimeText(ToTime(message.time())),
                      ": ", Visible(message.text()), message.text_truncated() ? " …" : "",
                      message.later_lost() ? " (the board has lost messages after it)" : "");
}

using Json = nlohmann::ordered_json;

// The entries of a column that have both a time and a value, should the response be malformed.
int EntriesOf(const v1::SensorColumn& column) {
  return std::min(column.host_times_ns_size(), std::max(column.values_size(), column.counts_size()));
}

// A response of a daemon never has a divisor of 0.
double PerUnit(const v1::SensorColumn& column) {
  return static_cast<double>(std::max<uint64_t>(column.count_per_unit(), 1));
}

// Per second since the previous entry, in the unit of the name. nullopt for a gauge and for the first entry, and if the
// count or the clock decreased.
std::optional<double> RateAt(const v1::SensorColumn& column, int i) {
  if (i == 0 || i >= column.counts_size() || column.counts(i) < column.counts(i - 1)) return std::nullopt;
  const int64_t passed_ns = column.host_times_ns(i) - column.host_times_ns(i - 1);
  if (passed_ns <= 0) return std::nullopt;
  return static_cast<double>(column.counts(i) - column.counts(i - 1)) / PerUnit(column) /
         (static_cast<double>(passed_ns) / 1e9);
}

// The sensor as it was then.
v1::Sensor SensorAt(const v1::SensorColumn& column, int i) {
  v1::Sensor sensor;
  sensor.set_name(column.name());
  if (i < column.counts_size()) {
    sensor.set_count(column.counts(i));
    sensor.set_count_per_unit(column.count_per_unit());
    sensor.set_value(static_cast<double>(column.counts(i)) / PerUnit(column));
  } else {
    sensor.set_value(column.values(i));
  }
  return sensor;
}

struct SensorValue {
  const v1::SensorColumn& column;
  absl::Time time;
  v1::Sensor sensor;  // without labels
  std::optional<double> rate;
  bool is_restart = false;  // the first of a counter that has begun again
};

template <typename OnEntry>
void ForEachValue(const v1::DeviceSensorHistory& device, OnEntry on_entry) {
  std::set<std::string> seen;
  for (const v1::SensorColumn& column : device.columns()) {
    const bool is_first = seen.insert(absl::StrCat(column.name(), " ", LabelsText(column.labels()))).second;
    for (int i = 0; i < EntriesOf(column); ++i) {
      on_entry(SensorValue{column, absl::FromUnixNanos(column.host_times_ns(i)), SensorAt(column, i), RateAt(column, i),
                           i == 0 && !is_first});
    }
  }
}

// How many entries there are, and when the first and the last one were.
struct Range {
  int entries = 0;
  absl::Time first = absl::InfiniteFuture();
  absl::Time last = absl::InfinitePast();
};

Range RangeOf(const v1::DeviceSensorHistory& device) {
  Range range;
  ForEachValue(device, [&](const SensorValue& entry) {
    ++range.entries;
    range.first = std::min(range.first, entry.time);
    range.last = std::max(range.last, entry.time);
  });
  return range;
}

std::string Heading(const v1::DeviceSensorHistory& device, const Range& range, const std::string& step,
                    const TableStyle& style) {
  const std::string times = range.entries == 0 ? "" : absl::StrCat(TimeText(range.first), " to ", TimeText(range.last));
  return WrappedFields({Visible(device.device()), PluralText(static_cast<uint64_t>(range.entries), "value"), times,
                        step, absl::StrCat("history since ", TimeText(ToTime(device.oldest())))},
                       style);
}

std::string DeviceTable(const v1::DeviceSensorHistory& device, const std::string& step, const TableStyle& style) {
  const Range range = RangeOf(device);
  if (range.entries == 0) return Heading(device, range, step, style);
  using Fit = Table::Fit;
  Table table({{"TIME"},
               {"SENSOR", kLeft, Fit::kMiddle},
               {"OF", kLeft, Fit::kMiddle},
               {"VALUE", kRight},
               {"RATE", kRight, Fit::kRare},
               {"NOTES", kLeft, Fit::kIfAny}});
  const std::string format = TimeColumnFormat(range.first, range.last, style);
  ForEachValue(device, [&](const SensorValue& entry) {
    SensorTexts texts = TextsOf(entry.sensor, style);
    table.Add({absl::FormatTime(format, entry.time, absl::UTCTimeZone()), std::move(texts.name),
               LabelsText(entry.column.labels()), std::move(texts.value),
               entry.rate ? SensorRateText(entry.column.name(), *entry.rate, style) : "",
               entry.is_restart ? "restarted" : ""});
  });
  return Heading(device, range, step, style) + table.Render(style);
}

std::string EntryLine(const v1::DeviceSensorHistory& device, const SensorValue& entry) {
  const bool is_counter = entry.sensor.has_count();
  return CsvLine({device.device(), TimeText(entry.time), entry.column.name(), LabelsText(entry.column.labels()),
                  entry.column.group(), CsvNumber(entry.sensor.value()),
                  is_counter ? absl::StrCat(entry.sensor.count()) : "",
                  is_counter ? absl::StrCat(entry.sensor.count_per_unit()) : "",
                  is_counter ? TimeText(ToTime(entry.column.created())) : "", entry.rate ? CsvNumber(*entry.rate) : "",
                  entry.is_restart ? "yes" : "no"});
}

constexpr char kNoBoard[] =
    "no sensors: no board has answered, none is read (devices[].board), or the policy shows none";

template <typename Response>
bool IsEmpty(const Response& response) {
  for (const auto& device : response.devices()) {
    if (device.sensors_size() > 0) return false;
  }
  return true;
}

class SensorsCommand final : public Command {
 public:
  std::string name() const override { return "sensors"; }
  std::string description() const override { return "Print the sensors of boards"; }

  void Define(CLI::App& app) override {
    app.add_option("--device", device_, "Only this device; default: all")->type_name("NAME");
    app.add_option("--name", names_,
                   "Only this sensor, by its short name or its metric's name (power, sideband_power_watts); repeatable")
        ->type_name("NAME")
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    CLI::Option* const list = app.add_flag("--list", is_list_, "Print names and meanings instead of values");
    past_.AddTo(app)->excludes(list);
    format_.AddTo(app);
    app.footer(
        "For operators; tenants see the metrics of the partitions that the policy grants them. CSV needs --since,\n"
        "with which a rate is the mean from one value of a counter to the next.\n"
        "Examples:\n"
        "  sideband sensors --device gpu0\n"
        "  sideband sensors --name sideband_temperature_celsius --format json\n"
        "  sideband sensors --name power --since 10m --step 10s");
  }

  absl::Status Run(CommandContext& context) override {
    if (format_.csv() && !past_.is_wanted()) return absl::InvalidArgumentError("--format csv needs --since");
    SIDEBAND_RETURN_IF_ERROR(past_.Check(context.Now()));
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::SensorFilter filter;
    filter.set_device(device_);
    SIDEBAND_RETURN_IF_ERROR(AddMetrics(*client, filter));
    if (past_.is_wanted()) return GetPast(*client, filter, context);
    return is_list_ ? List(*client, filter, context) : Get(*client, filter, context);
  }

 private:
  template <typename Response>
  absl::Status Print(const Response& response, std::string (*table)(const Response&, const TableStyle&),
                     CommandContext& context) const {
    if (format_.json()) return context.out().Write(ToJson(response));
    if (IsEmpty(response)) context.Note(kNoBoard);
    return context.out().Write(table(response, context.StyleOf(format_.style)));
  }

  // The daemon knows the names of metrics. Asks it for those that a short name stands for.
  absl::Status AddMetrics(TelemetryClient& client, v1::SensorFilter& filter) {
    const auto is_metric = [](const std::string& name) { return absl::StartsWith(name, "sideband_"); };
    std::set<std::string> metrics;
    if (!std::ranges::all_of(names_, is_metric)) {
      v1::ListSensorsRequest request;
      request.mutable_filter()->set_device(device_);
      const auto listed = client.ListSensors(request);
      if (!listed.ok()) return Explained(listed.status());
      for (const auto& device : listed->devices()) {
        for (const v1::SensorDescription& sensor : device.sensors()) metrics.insert(sensor.name());
      }
    }
    std::vector<std::string> short_names;
    for (const std::string& metric : metrics) short_names.push_back(SensorShortName(metric));
    for (const std::string& name : names_) {
      const int before = filter.names_size();
      for (const std::string& metric : metrics) {
        if (SensorShortName(metric) == name) filter.add_names(metric);
      }
      if (filter.names_size() != before) continue;
      filter.add_names(name);
      suggestions_[name] = DidYouMean(name, short_names);
    }
    return absl::OkStatus();
  }

  // Names all that was asked for: the daemon does not tell which of these it has not found.
  absl::Status Explained(const absl::Status& status) const {
    if (!absl::IsNotFound(status)) return status;
    std::string what = device_.empty() ? "" : absl::StrCat("device '", device_, "'");
    for (const std::string& name : names_) {
      const auto suggestion = suggestions_.find(name);
      absl::StrAppend(&what, what.empty() ? "" : ", ", "sensor '", name, "'",
                      suggestion == suggestions_.end() ? "" : suggestion->second);
    }
    return MarkRemote(absl::NotFoundError(
        absl::StrCat("no sensors that you may read: ", what, "; `sideband sensors --list` has all names")));
  }

  absl::Status Get(TelemetryClient& client, const v1::SensorFilter& filter, CommandContext& context) const {
    v1::GetSensorsRequest request;
    *request.mutable_filter() = filter;
    const auto response = client.GetSensors(request);
    return response.ok() ? Print(*response, &SensorsTable, context) : Explained(response.status());
  }

  absl::Status List(TelemetryClient& client, const v1::SensorFilter& filter, CommandContext& context) const {
    v1::ListSensorsRequest request;
    *request.mutable_filter() = filter;
    const auto response = client.ListSensors(request);
    return response.ok() ? Print(*response, &SensorNamesTable, context) : Explained(response.status());
  }

  absl::Status GetPast(TelemetryClient& client, const v1::SensorFilter& filter, CommandContext& context) const {
    v1::GetSensorHistoryRequest request;
    *request.mutable_filter() = filter;
    past_.FillIn(context.Now(), request);
    const auto response = client.GetSensorHistory(request);
    if (absl::IsUnimplemented(response.status())) {
      return MarkRemote(
          absl::UnimplementedError("the daemon has no history of sensors: it is older than this program"));
    }
    if (!response.ok()) return Explained(response.status());
    NoteEmptyPast(*response, context);
    if (format_.json()) return context.out().Write(SensorHistoryJson(*response));
    return context.out().Write(format_.csv() ? SensorHistoryCsv(*response)
                                             : SensorHistoryTables(*response, context.StyleOf(format_.style)));
  }

  static void NoteEmptyPast(const v1::GetSensorHistoryResponse& response, CommandContext& context) {
    if (response.devices().empty()) return context.Note(kNoBoard);
    const auto has_columns = [](const v1::DeviceSensorHistory& device) { return device.columns_size() > 0; };
    if (std::ranges::none_of(response.devices(), has_columns)) context.Note("the history has no points in that time");
  }

  std::string device_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> suggestions_;  // for names that the daemon does not list
  bool is_list_ = false;
  PastOptions past_;
  FormatOption format_;
};

class BoardCommand final : public Command {
 public:
  std::string name() const override { return "board"; }
  std::string description() const override { return "Print events of boards, such as the driver's messages"; }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer("Examples:\n  sideband board events --device gpu0\n  sideband board events --follow --json");
    CLI::App& events = *app.add_subcommand("events", "Print the driver's messages that the daemon holds");
    events.add_option("--device", request_device_, "Only this device; default: all")->type_name("NAME");
    events.add_flag("--follow", is_follow_, "Also print new messages as they come, until Ctrl-C");
    events.add_flag("--json", is_json_, "One JSON object per line");
    events.footer(
        "For operators. With --follow, a lost connection is made again; the messages that the daemon holds are then\n"
        "printed again.");
  }

  absl::Status Run(CommandContext& context) override {
    v1::WatchBoardEventsRequest request;
    request.set_device(request_device_);
    Reconnection reconnection(context);
    for (;;) {
      SIDEBAND_ASSIGN_OR_RETURN(const auto client, reconnection.Connect(context));
      const absl::Status ended = Stream(*client, request, reconnection, context);
      if (ended.ok() || !is_follow_ || !reconnection.Again(ended)) return Explained(ended);
    }
  }

 private:
  absl::Status Stream(TelemetryClient& client, const v1::WatchBoardEventsRequest& request, Reconnection& reconnection,
                      CommandContext& context) const {
    StreamPrinter printer(context, /*count_max=*/0);
    bool is_complete = false;
    const absl::Status ended = client.WatchBoardEvents(request, [&](const v1::WatchBoardEventsResponse& event) {
      reconnection.Received();
      is_complete = event.sync_response() && !is_follow_;
      return !is_complete && printer.Print(Text(event));
    });
    return is_complete ? absl::OkStatus() : printer.End(ended);
  }

  std::string Text(const v1::WatchBoardEventsResponse& event) const {
    if (!is_json_) return BoardEventLine(event);
    return event.sync_response() ? "" : ToJsonLine(event) + "\n";
  }

  absl::Status Explained(const absl::Status& status) const {
    if (!absl::IsNotFound(status)) return status;
    return MarkRemote(
        absl::NotFoundError(absl::StrCat("no device '", request_device_, "', or you may not read its board")));
  }

  std::string request_device_;
  bool is_follow_ = false, is_json_ = false;
};

}  // namespace

std::string SensorShortName(absl::string_view metric) {
  if (metric == kInfo) return kInfoName;
  const absl::string_view name = absl::StripPrefix(metric, "sideband_");
  for (const auto& unit : kUnits) {
    if (absl::EndsWith(name, unit.suffix)) return std::string(absl::StripSuffix(name, unit.suffix));
  }
  return std::string(absl::StripSuffix(name, "_total"));
}

SensorTexts TextsOf(const v1::Sensor& sensor, const TableStyle& style) {
  std::string name = SensorShortName(sensor.name());
  for (const auto& [suffix, text] : kUnits) {
    if (absl::EndsWith(sensor.name(), suffix)) return {std::move(name), text(sensor.value(), style)};
  }
  const bool is_whole = sensor.has_count() && sensor.count_per_unit() == 1;
  return {std::move(name), is_whole ? CountText(sensor.count(), style) : PlainText(sensor.value(), style)};
}

std::string LabelsText(const google::protobuf::RepeatedPtrField<v1::SensorLabel>& labels) {
  return absl::StrJoin(labels, " ", [](std::string* out, const v1::SensorLabel& label) {
    absl::StrAppend(out, label.name(), "=", label.value());
  });
}

std::string SensorRateText(absl::string_view name, double per_second, const TableStyle& style) {
  if (absl::EndsWith(name, "_joules_total")) return ScaledText(per_second, "W", style);
  return ScaledText(per_second, absl::EndsWith(name, "_bytes_total") ? "B/s" : "/s", style);
}

std::string SensorsTable(const v1::GetSensorsResponse& response, const TableStyle& style) {
  Table table({{"DEVICE"}, {"SENSOR"}, {"OF"}, {"VALUE", kRight, Table::Fit::kEnd}});
  for (const v1::DeviceSensors& device : response.devices()) {
    for (const v1::Sensor& sensor : device.sensors()) {
      if (sensor.name() == kInfo) {
        AddInfo(device.device(), sensor, table);
        continue;
      }
      SensorTexts texts = TextsOf(sensor, style);
      table.Add({device.device(), std::move(texts.name), LabelsText(sensor.labels()), std::move(texts.value)});
    }
  }
  return table.Render(style);
}

std::string SensorNamesTable(const v1::ListSensorsResponse& response, const TableStyle& style) {
  Table table({{"NAME"}, {"GROUP"}, {"DESCRIPTION", Table::Align::kLeft, Table::Fit::kEnd}});
  std::set<std::string> shown;
  for (const auto& device : response.devices()) {
    for (const v1::SensorDescription& sensor : device.sensors()) {
      if (shown.insert(sensor.name()).second) table.Add({sensor.name(), sensor.group(), sensor.description()});
    }
  }
  return table.Render(style);
}

std::string BoardEventLine(const v1::WatchBoardEventsResponse& event) {
  switch (event.event_case()) {
    case v1::WatchBoardEventsResponse::kDriverMessage:
      return absl::StrCat(event.device(), ": ", MessageText(event.driver_message()), "\n");
    case v1::WatchBoardEventsResponse::kRaised:
      return absl::StrCat(
          event.device(), ": ", Visible(event.raised().name()),
          event.raised().count() == 1 ? "" : absl::StrCat(", ", PluralText(event.raised().count(), "time")), "\n");
    case v1::WatchBoardEventsResponse::kMessagesLost:
      return absl::StrCat(event.device(), ": ", LostText(event.messages_lost()), "\n");
    case v1::WatchBoardEventsResponse::kSyncResponse:
    case v1::WatchBoardEventsResponse::EVENT_NOT_SET:
      break;
  }
  return "";
}

std::string SensorHistoryTables(const v1::GetSensorHistoryResponse& response, const TableStyle& style) {
  const std::string step =
      response.has_step() ? absl::StrCat("step ", absl::FormatDuration(ToDuration(response.step()))) : "";
  std::vector<std::string> tables;
  for (const v1::DeviceSensorHistory& device : response.devices()) tables.push_back(DeviceTable(device, step, style));
  return absl::StrJoin(tables, "\n");
}

std::string SensorHistoryCsv(const v1::GetSensorHistoryResponse& response) {
  std::string text = CsvLine({"device", "host_time", "name", "labels", "group", "value", "count", "count_per_unit",
                              "created", "rate_per_second", "restarted"});
  for (const v1::DeviceSensorHistory& device : response.devices()) {
    ForEachValue(device, [&](const SensorValue& entry) { text += EntryLine(device, entry); });
  }
  return text;
}

std::string SensorHistoryJson(const v1::GetSensorHistoryResponse& response) {
  const std::string text = ToJson(response);
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  // protobuf writes nothing for a time that a calendar does not have.
  if (!json.is_object()) return text;
  for (int d = 0; d < response.devices_size(); ++d) {
    for (int c = 0; c < response.devices(d).columns_size(); ++c) {
      const v1::SensorColumn& column = response.devices(d).columns(c);
      if (column.count_per_unit() == 0) continue;
      Json& rates = json["devices"][d]["columns"][c]["rates_per_second"] = Json::array();
      for (int i = 0; i < EntriesOf(column); ++i) {
        const auto rate = RateAt(column, i);
        rates.push_back(rate ? Json(*rate) : Json(nullptr));
      }
    }
  }
  return json.dump(1) + "\n";
}

std::unique_ptr<Command> NewSensorsCommand() { return std::make_unique<SensorsCommand>(); }
std::unique_ptr<Command> NewBoardCommand() { return std::make_unique<BoardCommand>(); }

}  // namespace sideband::client

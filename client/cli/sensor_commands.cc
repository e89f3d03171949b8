// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/formats.h"
#include "client/cli/options.h"
#include "client/cli/reconnection.h"
#include "client/cli/sensor_text.h"
#include "client/cli/stream.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

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
  absl::Status AddMetrics(TelemetryClient& client, v1::SensorFilter& filter) const {
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
    for (const std::string& name : names_) {
      const int before = filter.names_size();
      for (const std::string& metric : metrics) {
        if (SensorShortName(metric) == name) filter.add_names(metric);
      }
      if (filter.names_size() == before) filter.add_names(name);
    }
    return absl::OkStatus();
  }

  // Names all that was asked for: the daemon does not tell which of these it has not found.
  absl::Status Explained(const absl::Status& status) const {
    if (!absl::IsNotFound(status)) return status;
    std::string what = device_.empty() ? "" : absl::StrCat("device '", device_, "'");
    for (const std::string& name : names_) absl::StrAppend(&what, what.empty() ? "" : ", ", "sensor '", name, "'");
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

std::unique_ptr<Command> NewSensorsCommand() { return std::make_unique<SensorsCommand>(); }
std::unique_ptr<Command> NewBoardCommand() { return std::make_unique<BoardCommand>(); }

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include "client/cli/history_render.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/json.h"
#include "client/cli/table.h"
#include "proto/base/visible.h"

namespace sideband::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kRight = Table::Align::kRight;

std::string TimeText(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ",
                          absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos()), absl::UTCTimeZone());
}

// The point of a series' column; nullptr where the daemon told of none, which it should not.
const v1::HistoryPoint* PointAt(const v1::DeviceHistory& device, const v1::HistorySeries& series, int i) {
  const uint64_t point = uint64_t{series.first_point()} + static_cast<uint64_t>(i);
  return point < static_cast<uint64_t>(device.points_size()) ? &device.points(static_cast<int>(point)) : nullptr;
}

// Per second of the device's reference clock, since the point before.
std::optional<double> RateAt(const v1::DeviceHistory& device, const v1::HistorySeries& series,
                             const v1::HistoryColumn& column, int i) {
  if (i == 0 || column.counts(i) < column.counts(i - 1)) return std::nullopt;
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
  return absl::StrCat(scope.vm_uuid(), "/", scope.vm(), "/", scope.context());
}

std::string StateText(const v1::HistoryStatus& status) {
  const std::string& name = v1::ScopeCounters::State_Name(status.state());
  return name.empty() ? absl::StrCat(status.state()) : absl::AsciiStrToLower(absl::StripPrefix(name, "STATE_"));
}

// What holds at the points of a series, which are asked for in their order.
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

std::string FlagsText(const v1::HistoryStatus& status, bool is_restart) {
  std::vector<std::string> flags(status.flags().begin(), status.flags().end());
  if (is_restart) flags.insert(flags.begin(), "restarted");
  return absl::StrJoin(flags, ",");
}

void AddColumn(const v1::DeviceHistory& device, const v1::HistorySeries& series, const v1::HistoryColumn& column,
               bool is_restart, Table& table) {
  const v1::Scope& scope = series.scope();
  StatusWalk statuses(series);
  for (int i = 0; i < column.counts_size(); ++i) {
    const v1::HistoryPoint* const point = PointAt(device, series, i);
    if (point == nullptr) return;
    const auto rate = RateAt(device, series, column, i);
    const v1::HistoryStatus& status = statuses.At(i);
    table.Add({TimeText(point->host_time()), scope.has_slice() ? absl::StrCat(scope.slice()) : "", scope.vm(),
               scope.context(), StateText(status), EventName(device, column.event()), absl::StrCat(column.counts(i)),
               rate ? absl::StrFormat("%.1f", *rate) : "", FlagsText(status, is_restart && i == 0)});
  }
}

std::string Heading(const v1::DeviceHistory& device, const std::string& step) {
  const int points = device.points_size();
  const std::string range = points == 0 ? ""
                                        : absl::StrCat("  ", TimeText(device.points(0).host_time()), " to ",
                                                       TimeText(device.points(points - 1).host_time()));
  return absl::StrCat(Visible(device.device()), "  ", points, points == 1 ? " point" : " points", range, step,
                      "  history since ", TimeText(device.oldest()), "\n");
}

std::string DeviceTable(const v1::DeviceHistory& device, const std::string& step) {
  Table table({{"TIME"},
               {"SLICE", kRight},
               {"VM"},
               {"CONTEXT"},
               {"STATE"},
               {"EVENT"},
               {"COUNT", kRight},
               {"RATE/S", kRight},
               {"FLAGS"}});
  std::set<std::string> seen;
  for (const v1::HistorySeries& series : device.series()) {
    const bool is_restart = !seen.insert(ScopeName(series.scope())).second;
    for (const v1::HistoryColumn& column : series.columns()) AddColumn(device, series, column, is_restart, table);
  }
  return Heading(device, step) + (device.points_size() == 0 ? "" : table.Render());
}

}  // namespace

std::string HistoryTables(const v1::GetHistoryResponse& response) {
  if (response.devices().empty()) return "no history yet\n";
  const absl::Duration step = absl::Seconds(response.step().seconds()) + absl::Nanoseconds(response.step().nanos());
  const std::string step_text = response.has_step() ? absl::StrCat("  step ", absl::FormatDuration(step)) : "";
  std::vector<std::string> tables;
  for (const v1::DeviceHistory& device : response.devices()) tables.push_back(DeviceTable(device, step_text));
  return absl::StrJoin(tables, "\n");
}

std::string HistoryJson(const v1::GetHistoryResponse& response) {
  Json json = Json::parse(ToJson(response), nullptr, /*allow_exceptions=*/false);
  for (int d = 0; d < response.devices_size(); ++d) {
    const v1::DeviceHistory& device = response.devices(d);
    for (int s = 0; s < device.series_size(); ++s) {
      for (int c = 0; c < device.series(s).columns_size(); ++c) {
        const v1::HistoryColumn& column = device.series(s).columns(c);
        Json& rates = json["devices"][d]["series"][s]["columns"][c]["rates_per_second"] = Json::array();
        for (int i = 0; i < column.counts_size(); ++i) {
          const auto rate = RateAt(device, device.series(s), column, i);
          rates.push_back(rate ? Json(*rate) : Json(nullptr));
        }
      }
    }
  }
  return json.dump(1) + "\n";
}

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include "client/sensors/sensor_history_text.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/csv.h"
#include "client/cli/json.h"
#include "client/cli/message_text.h"
#include "client/cli/time_column.h"
#include "client/sensors/sensor_text.h"
#include "proto/base/visible.h"

namespace sideband::client {
namespace {

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

struct Entry {
  const v1::SensorColumn& column;
  absl::Time time;
  v1::Sensor sensor;  // without labels
  std::optional<double> rate;
  bool is_restart = false;  // the first of a counter that has begun anew
};

template <typename OnEntry>
void ForEach(const v1::DeviceSensorHistory& device, OnEntry on_entry) {
  std::set<std::string> seen;
  for (const v1::SensorColumn& column : device.columns()) {
    const bool is_first = seen.insert(absl::StrCat(column.name(), " ", LabelsText(column.labels()))).second;
    for (int i = 0; i < EntriesOf(column); ++i) {
      on_entry(Entry{column, absl::FromUnixNanos(column.host_times_ns(i)), SensorAt(column, i), RateAt(column, i),
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
  ForEach(device, [&](const Entry& entry) {
    ++range.entries;
    range.first = std::min(range.first, entry.time);
    range.last = std::max(range.last, entry.time);
  });
  return range;
}

std::string Heading(const v1::DeviceSensorHistory& device, const Range& range, const std::string& step,
                    const TableStyle& style) {
  const std::string times = range.entries == 0 ? "" : absl::StrCat(TimeText(range.first), " to ", TimeText(range.last));
  return WrappedFields(
      {Visible(device.device()), absl::StrCat(range.entries, range.entries == 1 ? " value" : " values"), times, step,
       absl::StrCat("history since ", TimeText(ToTime(device.oldest())))},
      style);
}

std::string DeviceTable(const v1::DeviceSensorHistory& device, const std::string& step, const TableStyle& style) {
  const Range range = RangeOf(device);
  if (range.entries == 0) return Heading(device, range, step, style);
  using Fit = Table::Fit;
  constexpr auto kLeft = Table::Align::kLeft;
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"TIME"},
               {"SENSOR", kLeft, Fit::kMiddle},
               {"OF", kLeft, Fit::kMiddle},
               {"VALUE", kRight},
               {"RATE", kRight, Fit::kRare},
               {"NOTES", kLeft, Fit::kIfAny}});
  const std::string format = TimeColumnFormat(range.first, range.last, style);
  ForEach(device, [&](const Entry& entry) {
    SensorTexts texts = TextsOf(entry.sensor, style);
    table.Add({absl::FormatTime(format, entry.time, absl::UTCTimeZone()), std::move(texts.name),
               LabelsText(entry.column.labels()), std::move(texts.value),
               entry.rate ? SensorRateText(entry.column.name(), *entry.rate, style) : "",
               entry.is_restart ? "restarted" : ""});
  });
  return Heading(device, range, step, style) + table.Render(style);
}

std::string EntryLine(const v1::DeviceSensorHistory& device, const Entry& entry) {
  const bool is_counter = entry.sensor.has_count();
  return CsvLine({device.device(), TimeText(entry.time), entry.column.name(), LabelsText(entry.column.labels()),
                  entry.column.group(), CsvNumber(entry.sensor.value()),
                  is_counter ? absl::StrCat(entry.sensor.count()) : "",
                  is_counter ? absl::StrCat(entry.sensor.count_per_unit()) : "",
                  is_counter ? TimeText(ToTime(entry.column.created())) : "", entry.rate ? CsvNumber(*entry.rate) : "",
                  entry.is_restart ? "yes" : "no"});
}

}  // namespace

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
    ForEach(device, [&](const Entry& entry) { text += EntryLine(device, entry); });
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

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include "client/sensors/sensor_text.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/message_text.h"
#include "client/cli/number_text.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

constexpr auto kRight = Table::Align::kRight;
constexpr char kInfo[] = "sideband_board_info", kInfoName[] = "board";

std::string PlainText(double value, const TableStyle&) {
  return std::trunc(value) == value ? absl::StrFormat("%.0f", value) : absl::StrFormat("%.3f", value);
}
std::string CelsiusText(double value, const TableStyle&) { return absl::StrFormat("%.1f °C", value); }
std::string WattsText(double value, const TableStyle&) { return absl::StrFormat("%.1f W", value); }
std::string JoulesText(double value, const TableStyle& style) { return ScaledText(value, "J", style); }
std::string HertzText(double value, const TableStyle& style) { return ScaledText(value, "Hz", style); }
// As the status page shows the size of a memory.
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

}  // namespace sideband::client

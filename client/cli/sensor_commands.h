// SPDX-License-Identifier: Apache-2.0
//
// `sideband sensors` and `sideband board events` as text: sensors and events of boards as tables and lines; the past of
// sensors as tables, CSV and JSON, with the rates of counters between their values.
//   context.out().Write(SensorsTable(*response, style));
#ifndef SIDEBAND_CLIENT_CLI_SENSOR_COMMANDS_H_
#define SIDEBAND_CLIENT_CLI_SENSOR_COMMANDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/cli/table.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::client {

// How tables name a metric: without "sideband_" and the unit.
//   SensorShortName("sideband_power_watts")   // "power"
std::string SensorShortName(absl::string_view metric);

struct SensorTexts {
  std::string name;   // SensorShortName
  std::string value;  // with the unit
};
SensorTexts TextsOf(const v1::Sensor& sensor, const TableStyle& style);
// "sensor=gpu kind=current".
std::string LabelsText(const google::protobuf::RepeatedPtrField<v1::SensorLabel>& labels);
// A counter's gain per second, in the unit that its name has without the time.
std::string SensorRateText(absl::string_view name, double per_second, const TableStyle& style);

// A row for each sensor: its name without "sideband_" and the unit, its labels, and its value with the unit. A sensor
// of information has a row for each of its labels.
std::string SensorsTable(const v1::GetSensorsResponse& response, const TableStyle& style);
// A row for each name, with what it means.
std::string SensorNamesTable(const v1::ListSensorsResponse& response, const TableStyle& style);
// A line, with control characters made visible; empty for a sync_response.
std::string BoardEventLine(const v1::WatchBoardEventsResponse& event);

// For each device a line about its history, then a row per sensor and value. The first value of a counter that began
// again is marked "restarted" and has no rate. Names and values are as those of SensorsTable. Times are without their
// date if all are of one day, unless the style is wide.
std::string SensorHistoryTables(const v1::GetSensorHistoryResponse& response, const TableStyle& style);

// A line of titles, then a line per sensor and value (formats.h). Values are in the unit of the name; counters
// have their exact counts, too.
std::string SensorHistoryCsv(const v1::GetSensorHistoryResponse& response);

// Like ToJson, with `rates_per_second` beside the `counts` of a counter, in the unit of its name: for each count the
// rate since the previous one; null if it is unknown.
std::string SensorHistoryJson(const v1::GetSensorHistoryResponse& response);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_SENSOR_COMMANDS_H_

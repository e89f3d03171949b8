// SPDX-License-Identifier: Apache-2.0
//
// `sideband sensors`: what boards measure of themselves; `sideband board events`: what happens to them.
//   commands.push_back(NewSensorsCommand());
#ifndef SIDEBAND_CLIENT_SENSORS_SENSOR_COMMANDS_H_
#define SIDEBAND_CLIENT_SENSORS_SENSOR_COMMANDS_H_

#include <memory>
#include <string>

#include "client/cli/command.h"
#include "client/cli/table.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::client {

// The past of boards' sensors as tables, CSV and JSON, with the rates of counters between their values.

// For each device a line about its history, then a row per sensor and value. The first value of a counter that began
// anew is marked "restarted" and has no rate. Names and values are as those of SensorsTable. Times are without their
// date if all are of one day, unless the style is wide.
std::string SensorHistoryTables(const v1::GetSensorHistoryResponse& response, const TableStyle& style);

// A line of titles, then a line per sensor and value (client/cli/formats.h). Values are in the unit of the name; of
// counters there are the exact counts, too.
std::string SensorHistoryCsv(const v1::GetSensorHistoryResponse& response);

// Like ToJson, with `rates_per_second` beside the `counts` of a counter, in the unit of its name: for each count the
// rate since the previous one; null if it is unknown.
std::string SensorHistoryJson(const v1::GetSensorHistoryResponse& response);

std::unique_ptr<Command> NewSensorsCommand();
std::unique_ptr<Command> NewBoardCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_SENSORS_SENSOR_COMMANDS_H_

// SPDX-License-Identifier: Apache-2.0
//
// Renders the daemon's history as tables, CSV and JSON, with the rates between its points.
#ifndef SIDEBAND_CLIENT_CLI_HISTORY_RENDER_H_
#define SIDEBAND_CLIENT_CLI_HISTORY_RENDER_H_

#include <string>

#include "client/cli/table.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// For each device a line about its history, then a row per counter and point. The first row of a series that succeeds
// another of the same scope is marked "restarted" and has no rate. Times are without their date if all points are of
// one day, unless the style is wide.
std::string HistoryTables(const v1::GetHistoryResponse& response, const TableStyle& style);

// The titles once, then a line per counter and point of each daemon's answer, in the format of csv_render.h.
std::string HistoryCsvTitles();
std::string HistoryCsv(const v1::GetHistoryResponse& response);

// Like ToJson, with `rates_per_second` beside the `counts` of each column: for each point the rate since the previous
// point; null if it is unknown.
std::string HistoryJson(const v1::GetHistoryResponse& response);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_HISTORY_RENDER_H_

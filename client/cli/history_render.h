// SPDX-License-Identifier: Apache-2.0
//
// The daemon's history for people and for scripts, with the rates between its points.
#ifndef SIDEBAND_CLIENT_CLI_HISTORY_RENDER_H_
#define SIDEBAND_CLIENT_CLI_HISTORY_RENDER_H_

#include <string>

#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// For each device a line about its history, then a row per counter and point. A series that takes over from another
// says "restarted": between the two there is no rate.
std::string HistoryTables(const v1::GetHistoryResponse& response);

// As ToJson, with `rates_per_second` beside the `counts` of each column: per point, since the point before; null where
// that is unknown.
std::string HistoryJson(const v1::GetHistoryResponse& response);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_HISTORY_RENDER_H_

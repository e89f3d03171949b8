// SPDX-License-Identifier: Apache-2.0
//
// Renders the daemon's responses as tables.
#ifndef SIDEBAND_CLIENT_CLI_RENDER_H_
#define SIDEBAND_CLIENT_CLI_RENDER_H_

#include <string>
#include <vector>

#include "client/cli/table.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// What a daemon has answered.
struct DevicesAtHost {
  std::string host;  // empty if there is one: without it there is no column HOST
  v1::ListDevicesResponse response;
};
std::string DevicesTable(const std::vector<DevicesAtHost>& answers, const TableStyle& style);
std::string EventsTable(const v1::ListEventsResponse& response, const TableStyle& style);
std::string ScopesTable(const v1::ListScopesResponse& response, const TableStyle& style);
// One or two lines about the snapshot, then a row per counter. NOTES contains the row's state, if it is not active, and
// its flags; "partial" and "estimated" only of counters that are. COVER is there if the event of any is in a gate group
// or takes turns. An estimate is shown as "~42 ±5": half of a 95 % interval, cut to its bounds, which kShown adds.
enum class Bounds { kHidden, kShown };
std::string SnapshotTable(const v1::Snapshot& snapshot, const TableStyle& style, Bounds bounds = Bounds::kHidden);
// One line about the instant, then a row per counter. NOTES contains the flags of the row.
std::string PeekTable(const v1::PeekResponse& response, const TableStyle& style);
// Tables of several snapshots, separated by an empty line.
std::string SnapshotTables(const v1::GetSnapshotResponse& response, const TableStyle& style,
                           Bounds bounds = Bounds::kHidden);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_RENDER_H_

// SPDX-License-Identifier: Apache-2.0
//
// Renders the daemon's responses as comma-separated values: a line of titles, then a line per row. Numbers are printed
// in full, times in UTC; flags are separated by spaces; unknown values are empty.
#ifndef SIDEBAND_CLIENT_CLI_CSV_RENDER_H_
#define SIDEBAND_CLIENT_CLI_CSV_RENDER_H_

#include <string>

#include "client/cli/render.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// The titles once, then the lines of each daemon's answer.
std::string DevicesCsvTitles();
std::string DevicesCsv(const v1::ListDevicesResponse& response);
std::string EventsCsv(const v1::ListEventsResponse& response);
std::string ScopesCsv(const v1::ListScopesResponse& response);

// With its titles.
std::string PeekCsv(const v1::PeekResponse& response);

// The output for consecutive snapshots: the titles once, then the lines of each snapshot.
// With bounds four columns more, at the end: how exact the count is.
std::string SnapshotCsvTitles(Bounds bounds = Bounds::kHidden);
std::string SnapshotCsv(const v1::Snapshot& snapshot, Bounds bounds = Bounds::kHidden);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_CSV_RENDER_H_

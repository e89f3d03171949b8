// SPDX-License-Identifier: Apache-2.0
//
// The daemon's answers as tables for people.
#ifndef SIDEBAND_CLIENT_CLI_RENDER_H_
#define SIDEBAND_CLIENT_CLI_RENDER_H_

#include <string>

#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

std::string DevicesTable(const v1::ListDevicesResponse& response);
std::string EventsTable(const v1::ListEventsResponse& response);
std::string ScopesTable(const v1::ListScopesResponse& response);
// A line about the snapshot, then a row per counter.
std::string SnapshotTable(const v1::Snapshot& snapshot);
// Several, with an empty line between them.
std::string SnapshotTables(const v1::GetSnapshotResponse& response);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_RENDER_H_

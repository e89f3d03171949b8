// SPDX-License-Identifier: Apache-2.0
//
// The daemon's messages as text: responses as tables, and single fields.
#ifndef SIDEBAND_CLIENT_CLI_RENDER_H_
#define SIDEBAND_CLIENT_CLI_RENDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/table.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// The answer of one daemon.
struct DevicesAtHost {
  std::string host;  // empty if there is one: without it there is no column HOST
  v1::ListDevicesResponse response;
};
std::string DevicesTable(const std::vector<DevicesAtHost>& answers, const TableStyle& style);
std::string EventsTable(const v1::ListEventsResponse& response, const TableStyle& style);
std::string ScopesTable(const v1::ListScopesResponse& response, const TableStyle& style);
// One or two lines about the snapshot, then a row per counter. NOTES contains the row's state, if it is not active, and
// its flags; "partial" and "estimated" only of counters that are. The column COVER is shown if
// an event is in a gate group or multiplexed. An estimate is shown as "~42 ±5": half of a 95 % interval, cut to its
// bounds, which kShown adds.
enum class Bounds { kHidden, kShown };
std::string SnapshotTable(const v1::Snapshot& snapshot, const TableStyle& style, Bounds bounds = Bounds::kHidden);
// One line about the instant, then a row per counter. NOTES contains the flags of the row.
std::string PeekTable(const v1::PeekResponse& response, const TableStyle& style);
// Tables of several snapshots, separated by an empty line.
std::string SnapshotTables(const v1::GetSnapshotResponse& response, const TableStyle& style,
                           Bounds bounds = Bounds::kHidden);

// The enumerator's name in lower case, such as "fresh"; an unknown value is shown as its number.
std::string StateText(v1::Device::State state);
std::string StateText(v1::ScopeCounters::State state);
// "counters", "board", or "counters+board"; empty if nothing is known.
std::string KindsText(const v1::Device& device);
// Returns false for an SMBPBI-only board, and for a device that is away.
bool HasCounters(const v1::Device& device);
// Whether the device has answered and has neither boot ID nor clock: an SMBPBI-only board.
bool IsBoardAlone(const v1::Device& device);
std::string ScopeText(v1::Event::Scope scope);

// One line about a device without a snapshot.
std::string NotAnsweredText(const std::string& device);

// "2 messages of the driver were lost".
std::string LostText(uint64_t messages);

// Empty if the scope has no slice.
std::string SliceText(const v1::Scope& scope);
// The VM's name; "(host:3)" for the hypervisor on slice 3; empty for the device.
std::string VmText(const v1::Scope& scope);

// Whether flags of a row tell that its counts are estimates.
bool IsEstimated(const google::protobuf::RepeatedPtrField<std::string>& flags);
// Whether the counter is an estimate. An older daemon tells it of rows only.
bool IsEstimated(const v1::ScopeCounters& row, const v1::Counter& counter);
// Whether the event was not counted in every cycle of its scope's time, as far as the daemon knows.
bool IsPartial(const v1::Counter& counter);
// The row's flags as they concern one counter: "partial" and "estimated" only if it is.
std::vector<std::string> FlagsOf(const v1::ScopeCounters& row, const v1::Counter& counter);
// nullptr if the row has no utilisation of the event.
const v1::Ratio* FindUtilisation(const v1::ScopeCounters& row, const std::string& event);

absl::Duration ToDuration(const google::protobuf::Duration& duration);
absl::Time ToTime(const google::protobuf::Timestamp& time);
// UTC, to the millisecond: 2026-11-21T12:34:07.958Z.
std::string TimeText(absl::Time time);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_RENDER_H_

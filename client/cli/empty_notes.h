// SPDX-License-Identifier: Apache-2.0
//
// Notes for standard error that explain why a response has less than the selection: an empty table alone gives no
// reason.
//   for (const std::string& note : EmptyNotes(selection, ShownNames::Of(narrowed), *client)) context.Note(note);
#ifndef SIDEBAND_CLIENT_CLI_EMPTY_NOTES_H_
#define SIDEBAND_CLIENT_CLI_EMPTY_NOTES_H_

#include <set>
#include <string>
#include <vector>

#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/lib/telemetry_client.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// The names for which a response has counters.
struct ShownNames {
  std::set<std::string> devices;
  std::set<std::string> vms;  // names and UUIDs
  std::set<std::string> events;

  static ShownNames Of(const v1::GetSnapshotResponse& response);
  static ShownNames Of(const v1::GetHistoryResponse& response);
};

// Returns one line each for devices without a snapshot or without counters, for events that are masked, withheld, not
// counted for VMs or not counted yet, for confidential VMs, and for patterns without a match. Sends requests to the
// daemon only if something is missing. Returns no note for a request that fails.
std::vector<std::string> EmptyNotes(const Selection& selection, const ShownNames& shown, TelemetryClient& client);

// One line for each snapshot of a stale device.
std::vector<std::string> StaleNotes(const v1::GetSnapshotResponse& shown);

// UNAVAILABLE, marked as remote, if no chosen device has answered yet; OK if one has, or if none is chosen.
absl::Status CheckAnswered(const std::vector<std::string>& chosen, TelemetryClient& client);

// For listings: notes that there is no device, or which devices have no snapshot yet. Empty if all devices have a
// snapshot.
std::vector<std::string> AwayNotes(const v1::ListDevicesResponse& devices);

// Prints notes that explain why a listing of the chosen devices has no rows.
void NoteEmptyListing(const std::vector<std::string>& chosen, TelemetryClient& client, CommandContext& context);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_EMPTY_NOTES_H_

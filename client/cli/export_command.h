// SPDX-License-Identifier: Apache-2.0
//
// `sideband export`: opens the sealed records of a confidential VM inside it, and serves them to a Prometheus there.
#ifndef SIDEBAND_CLIENT_CLI_EXPORT_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_EXPORT_COMMAND_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/guest_export.h"
#include "client/lib/key_exchange.h"
#include "client/lib/telemetry_client.h"

namespace sideband::client {

// The daemon's names, and how often it reads the device.
struct GuestSite {
  GuestNames names;
  absl::Duration interval;  // of the device's snapshots
};

// Asks the daemon. Returns the errors of the calls; NOT_FOUND, marked as remote, if the daemon lists no such
// confidential VM.
absl::StatusOr<GuestSite> FindGuestSite(TelemetryClient& client, const ExchangeSubject& subject);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_EXPORT_COMMAND_H_

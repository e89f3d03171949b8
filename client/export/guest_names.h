// SPDX-License-Identifier: Apache-2.0
//
// Asks the daemon how things are called, and how often a device is read.
//   SIDEBAND_ASSIGN_OR_RETURN(const GuestSite site, FindGuestSite(client, {.vm = "vm3"}));
//   newest.Opened(site.names, 3 * site.interval);
#ifndef SIDEBAND_CLIENT_EXPORT_GUEST_NAMES_H_
#define SIDEBAND_CLIENT_EXPORT_GUEST_NAMES_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/export/guest_exposition.h"
#include "client/lib/key_exchange.h"
#include "client/lib/telemetry_client.h"

namespace sideband::client {

struct GuestSite {
  GuestNames names;
  absl::Duration interval;  // of the device's snapshots
};

// Errors of the calls; NOT_FOUND, marked as remote, if the daemon lists no such confidential VM.
absl::StatusOr<GuestSite> FindGuestSite(TelemetryClient& client, const ExchangeSubject& subject);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_EXPORT_GUEST_NAMES_H_

// SPDX-License-Identifier: Apache-2.0
//
// Telemetry.ListClocks, for every front end.
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, ListClocks(reader, caller, request));
#ifndef SIDEBAND_DAEMON_VIEW_CLOCK_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_CLOCK_QUERIES_H_

#include "absl/status/statusor.h"
#include "daemon/view/reader.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Of devices with a snapshot. A frequency follows the load of everybody on its slice, so that only operators get any:
// others get no device, and NotFound() where they name one, as for one that does not exist.
absl::StatusOr<sideband::v1::ListClocksResponse> ListClocks(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListClocksRequest& request);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_CLOCK_QUERIES_H_

// SPDX-License-Identifier: Apache-2.0
//
// The unary calls of sideband.v1.Telemetry that are answered from snapshots alone, for every front end; the others are
// in files of their own.
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, ListDevices(reader, caller, request));
#ifndef SIDEBAND_DAEMON_VIEW_TELEMETRY_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_TELEMETRY_QUERIES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "daemon/view/reader.h"
#include "daemon/view/snapshot_message.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Each returns the part that the caller may read, and NotFound() where the request names anything else.
absl::StatusOr<sideband::v1::ListDevicesResponse> ListDevices(Reader& reader, const Caller& caller,
                                                              const sideband::v1::ListDevicesRequest& request);
absl::StatusOr<sideband::v1::ListEventsResponse> ListEvents(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListEventsRequest& request);
absl::StatusOr<sideband::v1::ListScopesResponse> ListScopes(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListScopesRequest& request);
// The snapshots of a GetSnapshotResponse. Omits devices that have no snapshot or no row that the filter selects.
absl::StatusOr<std::vector<SharedSnapshot>> GetSnapshot(Reader& reader, SnapshotBodies& bodies, const Caller& caller,
                                                        const sideband::v1::GetSnapshotRequest& request);

// The clocks of devices with a snapshot. A frequency follows the load of all VMs on its slice, so that only operators
// get any: others get no device, and NotFound() where they name one, as for one that does not exist.
absl::StatusOr<sideband::v1::ListClocksResponse> ListClocks(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListClocksRequest& request);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_TELEMETRY_QUERIES_H_

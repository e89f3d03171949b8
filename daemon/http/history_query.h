// SPDX-License-Identifier: Apache-2.0
//
// Parses the query of /page/history: ?event=NAME&seconds=N, both required.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto wanted, ParseHistoryQuery(request.target, clock.Now()));
#ifndef SIDEBAND_DAEMON_HTTP_HISTORY_QUERY_H_
#define SIDEBAND_DAEMON_HTTP_HISTORY_QUERY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The event's counters of the last `seconds`, 1 to 86400, before `now`, in at most 300 points. INVALID_ARGUMENT, with
// a message for the client, for any other query.
absl::StatusOr<sideband::v1::GetHistoryRequest> ParseHistoryQuery(absl::string_view target, absl::Time now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_HISTORY_QUERY_H_

// SPDX-License-Identifier: Apache-2.0
//
// The query of /audit: ?after=SEQUENCE, once or not at all.
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t after, ParseAuditQuery(request.target));
#ifndef SIDEBAND_DAEMON_HTTP_AUDIT_QUERY_H_
#define SIDEBAND_DAEMON_HTTP_AUDIT_QUERY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

// The sequence, 0 without a query (from the beginning). INVALID_ARGUMENT, with a message for the client, for any other
// query.
absl::StatusOr<uint64_t> ParseAuditQuery(absl::string_view target);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_AUDIT_QUERY_H_

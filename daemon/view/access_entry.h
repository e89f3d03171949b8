// SPDX-License-Identifier: Apache-2.0
//
// The audit log's entry for a request.
//   const auto caller = reader.Authenticate(credentials);
//   reader.audit().Record(AccessEntry(reader, caller, credentials, {"GET /metrics", target}, absl::OkStatus()));
#ifndef SIDEBAND_DAEMON_VIEW_ACCESS_ENTRY_H_
#define SIDEBAND_DAEMON_VIEW_ACCESS_ENTRY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/identity/identity.h"
#include "daemon/view/reader.h"
#include "proto/audit/entry.h"

namespace sideband::daemon {

struct Access {
  std::string endpoint;  // "GET /metrics", "Telemetry/GetSnapshot"
  std::string resource;  // the request, unmodified
  std::string note;      // an explanation where needed, such as "stream ended"; may be empty
  std::string id = {};   // of the request; empty: it has none
};

// `outcome` is the status returned to an authenticated caller; every status but OK is logged as denied. The entry of an
// unauthenticated caller has the names in the certificate and whether a token was sent, never the token.
AuditEntry AccessEntry(const Reader& reader, const absl::StatusOr<Caller>& caller, const Credentials& credentials,
                       const Access& access, const absl::Status& outcome);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_ACCESS_ENTRY_H_

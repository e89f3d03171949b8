// SPDX-License-Identifier: Apache-2.0
//
// The audit log's entry for a request.
//   const auto caller = reader.Authenticate(credentials);
//   reader.audit().Record(AccessEntry(reader, caller, credentials, {"GET /metrics", target}, absl::OkStatus()));
#ifndef SIDEBAND_DAEMON_API_ACCESS_ENTRY_H_
#define SIDEBAND_DAEMON_API_ACCESS_ENTRY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/api/reader.h"
#include "daemon/authz/credentials.h"
#include "proto/audit/entry.h"

namespace sideband::daemon {

struct Access {
  std::string endpoint;  // "GET /metrics", "Telemetry/GetSnapshot"
  std::string resource;  // what was asked for, as it was
  std::string note;      // what happened where that is not plain: "stream ended"; may be empty
};

// `outcome` is what somebody the policy knows was answered; whatever is not OK counts as denied. Nobody's entry tells
// the names in the certificate and whether there was a token, never the token.
AuditEntry AccessEntry(const Reader& reader, const absl::StatusOr<Caller>& caller, const Credentials& credentials,
                       const Access& access, const absl::Status& outcome);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_API_ACCESS_ENTRY_H_

// SPDX-License-Identifier: Apache-2.0
//
// The name of a principal's role in the audit log: "operator", "auditor", "tenant:NAME". Principals with the same role
// name see the same data.
#ifndef SIDEBAND_DAEMON_AUTHZ_ROLE_NAME_H_
#define SIDEBAND_DAEMON_AUTHZ_ROLE_NAME_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/authz/policy.h"

namespace sideband::daemon {

// `principal` must be from `policy`.
inline std::string RoleName(const Policy& policy, const Principal& principal) {
  switch (principal.role) {
    case Principal::Role::kOperator:
      return "operator";
    case Principal::Role::kAuditor:
      return "auditor";
    case Principal::Role::kTenant:
      return absl::StrCat("tenant:", policy.tenants().at(principal.tenant).name);
  }
  return "unknown";
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_ROLE_NAME_H_

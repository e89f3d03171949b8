// SPDX-License-Identifier: Apache-2.0
//
// The local users and groups that may operate the daemon over its Unix sockets, besides root and the daemon's own user.
//   SIDEBAND_ASSIGN_OR_RETURN(const uint32_t uid, UserId("prometheus"));
#ifndef SIDEBAND_DAEMON_CONFIG_LOCAL_OPERATORS_H_
#define SIDEBAND_DAEMON_CONFIG_LOCAL_OPERATORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sideband::daemon {

struct LocalOperators {
  std::vector<uint32_t> users;
  std::vector<uint32_t> groups;

  bool operator==(const LocalOperators&) const = default;
};

// Returns the id of a user or group of this machine, given by name or as a decimal number. A number need not be
// assigned. INVALID_ARGUMENT "user 'NAME' is unknown".
absl::StatusOr<uint32_t> UserId(const std::string& name);
absl::StatusOr<uint32_t> GroupId(const std::string& name);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_LOCAL_OPERATORS_H_

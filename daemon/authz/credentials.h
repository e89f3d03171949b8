// SPDX-License-Identifier: Apache-2.0
//
// What a connection and a request on it have shown of who is asking. Nothing here says who that is: Reader::Identify
// does, under the policy in force.
#ifndef SIDEBAND_DAEMON_AUTHZ_CREDENTIALS_H_
#define SIDEBAND_DAEMON_AUTHZ_CREDENTIALS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/authz/identity.h"

namespace sideband::daemon {

struct Credentials {
  // Of the client certificate that TLS has verified; empty without one.
  SubjectNames certificate;
  // As sent, not verified; absent where the request has no Authorization field. One that is there but no bearer token
  // is an empty one, so that it is refused instead of overlooked.
  std::optional<std::string> bearer_token;
  // The number of the user at the other end of a Unix socket, who may operate the daemon (SO_PEERCRED).
  std::optional<uint32_t> local_operator;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_CREDENTIALS_H_

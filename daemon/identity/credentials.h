// SPDX-License-Identifier: Apache-2.0
//
// The credentials of a request and its connection, before they are mapped to a principal. Reader::Authenticate maps
// them, under the policy in force.
#ifndef SIDEBAND_DAEMON_IDENTITY_CREDENTIALS_H_
#define SIDEBAND_DAEMON_IDENTITY_CREDENTIALS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/identity/connection_standing.h"
#include "daemon/identity/identity.h"

namespace sideband::daemon {

struct Credentials {
  // From the client certificate that TLS has verified; empty without a certificate.
  SubjectNames certificate;
  // As sent, not verified; absent where the request has no Authorization field. A field without a bearer token is an
  // empty token, so that the request is rejected rather than authenticated by other credentials.
  std::optional<std::string> bearer_token;
  // The user id of the peer of a Unix socket that may operate the daemon (SO_PEERCRED).
  std::optional<uint32_t> local_operator;
  // nullptr where the standing of the connection cannot change. Shared with the connection.
  std::shared_ptr<const ConnectionStanding> connection;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_CREDENTIALS_H_

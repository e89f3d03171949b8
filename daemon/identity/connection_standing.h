// SPDX-License-Identifier: Apache-2.0
//
// Whether a request's connection may still be used: TLS verified the peer when the connection was made, possibly hours
// ago.
//   if (const absl::Status status = credentials.connection->Check(); !status.ok()) return status;
#ifndef SIDEBAND_DAEMON_IDENTITY_CONNECTION_STANDING_H_
#define SIDEBAND_DAEMON_IDENTITY_CONNECTION_STANDING_H_

#include "absl/status/status.h"

namespace sideband::daemon {

// Thread-safe; cheap enough for a call per request.
class ConnectionStanding {
 public:
  virtual ~ConnectionStanding() = default;
  // UNAUTHENTICATED where the peer's certificate has expired, or its authority is no longer a client authority of the
  // listener.
  virtual absl::Status Check() const = 0;
  // UNAVAILABLE where the connection has reached its maximum age. The client has to connect again.
  virtual absl::Status CheckAge() const = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_IDENTITY_CONNECTION_STANDING_H_

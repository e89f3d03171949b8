// SPDX-License-Identifier: Apache-2.0
//
// Finds out why a TLS connection to the daemon fails. gRPC says "Endpoint read failed" for most causes; a handshake
// with the same files has the verification's result and the daemon's alert.
//   const std::string cause = HandshakeCause(config, absl::Now());
//   if (!cause.empty()) return absl::UnavailableError(cause);
#ifndef SIDEBAND_CLIENT_CLI_HANDSHAKE_CAUSE_H_
#define SIDEBAND_CLIENT_CLI_HANDSHAKE_CAUSE_H_

#include <string>

#include "absl/time/time.h"
#include "client/lib/config.h"

namespace sideband::client {

// One sentence that begins with the file at fault, or names what is wrong with the daemon's certificate. Empty if the
// handshake succeeds, if no server answers, and for a connection without TLS. It connects, and takes some seconds at
// most.
std::string HandshakeCause(const ClientConfig& config, absl::Time now);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_HANDSHAKE_CAUSE_H_

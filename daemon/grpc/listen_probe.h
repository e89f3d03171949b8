// SPDX-License-Identifier: Apache-2.0
//
// Why an address cannot be listened on, which gRPC does not tell.
#ifndef SIDEBAND_DAEMON_GRPC_LISTEN_PROBE_H_
#define SIDEBAND_DAEMON_GRPC_LISTEN_PROBE_H_

#include "absl/status/status.h"
#include "daemon/config/listen_address.h"

namespace sideband::daemon {

// Binds and lets go again: UNAVAILABLE "grpc: cannot listen on ADDRESS: why" where that fails.
absl::Status ProbeListen(const ListenAddress& address);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_LISTEN_PROBE_H_

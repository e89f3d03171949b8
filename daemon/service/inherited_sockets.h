// SPDX-License-Identifier: Apache-2.0
//
// Listening sockets that the service manager has opened (socket activation, sd_listen_fds(3)): clients can connect
// before the daemon has started, and while it restarts.
//   SIDEBAND_ASSIGN_OR_RETURN(const InheritedSockets sockets, TakeInheritedSockets());
//   options.inherited_socket = sockets.http;
#ifndef SIDEBAND_DAEMON_SERVICE_INHERITED_SOCKETS_H_
#define SIDEBAND_DAEMON_SERVICE_INHERITED_SOCKETS_H_

#include "absl/status/statusor.h"

namespace sideband::daemon {

// Listening TCP sockets, or -1. Whoever takes one closes it.
struct InheritedSockets {
  int http = -1;
  int grpc = -1;
};

// Takes the sockets named `http` and `grpc` (FileDescriptorName=). To be called once, before other threads start: it
// changes the environment. INVALID_ARGUMENT for a socket of another name or kind, or two of one name.
absl::StatusOr<InheritedSockets> TakeInheritedSockets();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SERVICE_INHERITED_SOCKETS_H_

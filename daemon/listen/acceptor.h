// SPDX-License-Identifier: Apache-2.0
//
// The listening TCP socket of a server: its own, or one that the service manager has opened for it.
//   SIDEBAND_ASSIGN_OR_RETURN(NetworkListener network, NetworkListener::Open("http", {.host = "::1", .port = 9877}));
//   acceptor.assign(network.is_v6 ? tcp::v6() : tcp::v4(), network.socket.Release(), error);
#ifndef SIDEBAND_DAEMON_LISTEN_NETWORK_LISTENER_H_
#define SIDEBAND_DAEMON_LISTEN_NETWORK_LISTENER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/config/listener_config.h"
#include "proto/base/descriptor.h"

namespace sideband::daemon {

struct NetworkListener {
  Descriptor socket;  // non-blocking, listening
  bool is_v6 = false;
  uint16_t port = 0;

  // Opens a socket on `address`, or takes `inherited`, a listening TCP socket, if that is not -1; `address` is then
  // only named in errors. `name` is that of the server in errors. UNAVAILABLE "NAME: cannot listen on ADDRESS: why".
  static absl::StatusOr<NetworkListener> Open(absl::string_view name, const ListenAddress& address, int inherited = -1);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_NETWORK_LISTENER_H_

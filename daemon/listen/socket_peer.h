// SPDX-License-Identifier: Apache-2.0
//
// Who is at the other end of a Unix socket, as the kernel says (SO_PEERCRED), and whether they may operate the daemon.
//   const auto peer = PeerOfSocket(fd);
//   if (peer.ok() && MayOperate(*peer, config.local_operators, geteuid())) …
#ifndef SIDEBAND_DAEMON_LISTEN_SOCKET_PEER_H_
#define SIDEBAND_DAEMON_LISTEN_SOCKET_PEER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/config/local_operators.h"

namespace sideband::daemon {

struct SocketPeer {
  int64_t process = 0;  // for the log only: it may be gone, and its number another's
  uint32_t user = 0;
  std::vector<uint32_t> groups;  // its own first, then the supplementary ones
};

// As it was when the peer connected.
absl::StatusOr<SocketPeer> PeerOfSocket(int fd);

// root, the daemon's own user, and whom the configuration names.
bool MayOperate(const SocketPeer& peer, const LocalOperators& operators, uint32_t own_user);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_SOCKET_PEER_H_

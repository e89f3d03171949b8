// SPDX-License-Identifier: Apache-2.0
//
// The peer of a Unix socket as reported by the kernel (SO_PEERCRED, SO_PEERGROUPS), and whether it may operate the
// daemon.
//   const auto peer = PeerOfSocket(fd);
//   if (peer.ok() && MayOperate(*peer, config.local_operators, geteuid())) Serve(fd);
#ifndef SIDEBAND_DAEMON_LISTEN_SOCKET_PEER_H_
#define SIDEBAND_DAEMON_LISTEN_SOCKET_PEER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/config/local_operators.h"

namespace sideband::daemon {

struct SocketPeer {
  int64_t process = 0;  // for the log only: the process may have ended, its pid been reused
  uint32_t user = 0;
  std::vector<uint32_t> groups;  // the primary group first, then the supplementary ones
};

// The credentials at the time of connect(). The error is that of getsockopt.
absl::StatusOr<SocketPeer> PeerOfSocket(int fd);

// True for root, the daemon's own user (`own_user`), and the configured users and groups.
bool MayOperate(const SocketPeer& peer, const LocalOperators& operators, uint32_t own_user);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_SOCKET_PEER_H_

// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/socket_peer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

// NGROUPS_MAX on Linux.
constexpr size_t kGroupsMax = 65536;

bool Holds(const std::vector<uint32_t>& numbers, uint32_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

}  // namespace

absl::StatusOr<SocketPeer> PeerOfSocket(int fd) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return ErrnoStatus(errno, "SO_PEERCRED");
  // Room for the most groups that a process can have: the kernel answers ERANGE to less, and a group would be missed.
  std::vector<uint32_t> groups(1 + kGroupsMax);
  groups[0] = credentials.gid;
  size = kGroupsMax * sizeof(uint32_t);
  // Kernels without SO_PEERGROUPS report the primary group only.
  if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data() + 1, &size) != 0) size = 0;
  groups.resize(1 + size / sizeof(uint32_t));
  return SocketPeer{.process = credentials.pid, .user = credentials.uid, .groups = std::move(groups)};
}

bool MayOperate(const SocketPeer& peer, const LocalOperators& operators, uint32_t own_user) {
  if (peer.user == 0 || peer.user == own_user || Holds(operators.users, peer.user)) return true;
  return std::any_of(peer.groups.begin(), peer.groups.end(),
                     [&](uint32_t group) { return Holds(operators.groups, group); });
}

}  // namespace sideband::daemon

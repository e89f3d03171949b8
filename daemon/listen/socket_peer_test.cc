// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/socket_peer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sideband::daemon {
namespace {

TEST(SocketPeerTest, OnesOwnProcess) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const auto peer = PeerOfSocket(ends[0]);
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ(peer->process, getpid());
  EXPECT_EQ(peer->user, geteuid());
  ASSERT_FALSE(peer->groups.empty());
  EXPECT_EQ(peer->groups[0], getegid());
  close(ends[0]);
  close(ends[1]);
}

TEST(SocketPeerTest, WhatIsNoSocketHasNoPeer) { EXPECT_FALSE(PeerOfSocket(-1).ok()); }

TEST(SocketPeerTest, WhoMayOperate) {
  const LocalOperators operators{.users = {1000}, .groups = {50}};
  constexpr uint32_t kOwn = 77;
  struct Case {
    SocketPeer peer;
    bool may;
  };
  for (const Case& c : {
           Case{{.user = 0, .groups = {0}}, true},            // root
           Case{{.user = kOwn, .groups = {kOwn}}, true},      // the daemon's own user
           Case{{.user = 1000, .groups = {1000}}, true},      // a configured user
           Case{{.user = 1001, .groups = {1001, 50}}, true},  // a supplementary group that is configured
           Case{{.user = 1001, .groups = {50}}, true},        // a primary group that is configured
           Case{{.user = 1001, .groups = {1001}}, false},     // neither user nor group is configured
           Case{{.user = 50, .groups = {1000}}, false},       // numbers of users and groups are separate
           Case{{.user = 1001, .groups = {0}}, false},        // the group of root is not root
           Case{{.user = 4294967295u, .groups = {}}, false},  // the invalid uid (-1)
           Case{{.user = 65534, .groups = {65534}}, false},   // the overflow uid: a user of another user namespace
       }) {
    EXPECT_EQ(MayOperate(c.peer, operators, kOwn), c.may) << c.peer.user;
    if (c.peer.user != 0 && c.peer.user != kOwn) {
      EXPECT_FALSE(MayOperate(c.peer, {}, kOwn)) << c.peer.user;
    }
  }
}

}  // namespace
}  // namespace sideband::daemon

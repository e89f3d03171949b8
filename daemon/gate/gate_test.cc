// SPDX-License-Identifier: Apache-2.0
#include "daemon/gate/gate.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>

namespace sideband::daemon {
namespace {

TEST(NamedPairTest, TheServersEndSeesTheName) {
  PairNames names;
  const std::string name = names.Next();
  const auto pair = MakeNamedPair(name);
  ASSERT_TRUE(pair.ok()) << pair.status();
  sockaddr_un peer{};
  socklen_t size = sizeof(peer);
  ASSERT_EQ(getpeername(pair->server_end, reinterpret_cast<sockaddr*>(&peer), &size), 0);
  EXPECT_EQ(std::string(peer.sun_path, size - offsetof(sockaddr_un, sun_path)), '\0' + name);
  EXPECT_EQ(write(pair->gate_end, "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(pair->server_end, &byte, 1), 1);
  EXPECT_FALSE(MakeNamedPair(name).ok()) << "a name that is taken";
  close(pair->gate_end);
  close(pair->server_end);
}

TEST(NamedPairTest, NoNameComesTwice) {
  PairNames names, others;
  const std::string first = names.Next();
  EXPECT_NE(names.Next(), first);
  EXPECT_NE(others.Next(), first);
  EXPECT_EQ(first.size(), std::string("sideband-").size() + 32 + 2);
}

}  // namespace

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/acceptor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "absl/status/status.h"

namespace sideband::daemon {
namespace {

bool Accepts(const NetworkListener& listener) {
  const Descriptor client(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(listener.port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  return connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
}

TEST(NetworkListenerTest, ListensOnAPortOfTheSystemsChoice) {
  const auto listener = NetworkListener::Open("http", {.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_GT(listener->port, 0);
  EXPECT_FALSE(listener->is_v6);
  EXPECT_TRUE(Accepts(*listener));
  EXPECT_TRUE((fcntl(listener->socket.get(), F_GETFL) & O_NONBLOCK) != 0);
}

TEST(NetworkListenerTest, TakesAListeningSocket) {
  const Descriptor given(socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(listen(given.get(), 1), 0);  // on a port of the system's choice
  const auto listener = NetworkListener::Open("http", {.host = "192.0.2.1", .port = 1}, dup(given.get()));
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_TRUE(Accepts(*listener));
  EXPECT_EQ(fcntl(listener->socket.get(), F_GETFD), FD_CLOEXEC);
}

TEST(NetworkListenerTest, ATakenPortIsNamed) {
  const auto first = NetworkListener::Open("http", {.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = NetworkListener::Open("grpc", {.host = "127.0.0.1", .port = first->port});
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(std::string(second.status().message()),
              testing::MatchesRegex("grpc: cannot listen on 127.0.0.1:[0-9]+: Address already in use"));
}

TEST(NetworkListenerTest, ADescriptorThatIsNotOpenIsAnError) {
  EXPECT_EQ(NetworkListener::Open("http", {.host = "127.0.0.1", .port = 80}, 1 << 20).status().message(),
            "http: cannot listen on 127.0.0.1:80: Bad file descriptor");
}

}  // namespace
}  // namespace sideband::daemon

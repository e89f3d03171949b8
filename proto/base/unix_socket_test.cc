// SPDX-License-Identifier: Apache-2.0
#include "proto/base/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace sideband {
namespace {

class UnixExchangeTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  ~UnixExchangeTest() override {
    for (const int end : ends_) close(end);
  }

  const std::string path_ = "p";
  int ends_[2];
};

TEST_F(UnixExchangeTest, SendsAndReceivesWholeMessages) {
  UnixExchange here(ends_[0], "port", path_, absl::Seconds(30)), there(ends_[1], "port", path_, absl::Seconds(30));
  ASSERT_TRUE(here.Send(Bytes{1, 2, 3}).ok());
  EXPECT_EQ(*there.Receive(2), (Bytes{1, 2}));
  EXPECT_EQ(*there.Receive(1), (Bytes{3}));
}

TEST_F(UnixExchangeTest, PartsMayComeTogetherOrApart) {
  UnixExchange here(ends_[0], "port", path_, absl::Seconds(30)), there(ends_[1], "port", path_, absl::Seconds(30));
  const Bytes large(100'000, 7);
  ASSERT_TRUE(here.Send(Bytes{1, 2, 3, 4}).ok());
  EXPECT_EQ(*there.Receive(1), (Bytes{1}));
  ASSERT_TRUE(here.Send(Bytes{5}).ok());
  EXPECT_EQ(*there.Receive(0), (Bytes{}));
  EXPECT_EQ(*there.Receive(4), (Bytes{2, 3, 4, 5}));
  ASSERT_TRUE(here.Send(large).ok());
  EXPECT_EQ(*there.Receive(large.size()), large);
}

TEST_F(UnixExchangeTest, APartOfAnAnswerIsNone) {
  ASSERT_EQ(write(ends_[1], "ab", 2), 2);
  UnixExchange exchange(ends_[0], "port", path_, absl::Milliseconds(20));
  EXPECT_EQ(exchange.Receive(3).status(), absl::DeadlineExceededError("port p: no answer"));
}

TEST_F(UnixExchangeTest, ThePeerMayBeGone) {
  shutdown(ends_[1], SHUT_RDWR);
  UnixExchange exchange(ends_[0], "port", path_, absl::Seconds(30));
  EXPECT_EQ(exchange.Receive(1).status(), absl::UnavailableError("port p: the far end closed the connection"));
  EXPECT_EQ(exchange.Send(Bytes{1}).code(), absl::StatusCode::kUnavailable);
}

TEST(UnixSocketTest, ErrorsOfPaths) {
  EXPECT_EQ(ConnectToUnixSocket(std::string(200, 'x')), -ENAMETOOLONG);
  EXPECT_EQ(ConnectToUnixSocket("absent"), -ENOENT);
  EXPECT_EQ(UnixSocketError("bus", "b", ENAMETOOLONG),
            absl::InvalidArgumentError("bus b: the path is too long for a socket"));
  EXPECT_EQ(UnixSocketError("bus", "b", ENOENT), absl::UnavailableError("bus b: No such file or directory"));
}

}  // namespace
}  // namespace sideband

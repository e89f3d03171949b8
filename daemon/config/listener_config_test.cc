// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/listener_config.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

TEST(ListenAddressTest, TakesLiteralsOfBothFamilies) {
  EXPECT_EQ(*ListenAddress::Parse("127.0.0.1:9877"), (ListenAddress{"127.0.0.1", 9877}));
  EXPECT_EQ(*ListenAddress::Parse("[::1]:0"), (ListenAddress{"::1", 0}));
  EXPECT_EQ(ListenAddress::Parse("0.0.0.0:65535")->port, 65535);
}

TEST(ListenAddressTest, WritesWhatItReads) {
  for (const char* text : {"127.0.0.1:9877", "[::1]:0"}) EXPECT_EQ(ListenAddress::Parse(text)->ToString(), text);
}

TEST(ListenAddressTest, RefusesEverythingElse) {
  for (const char* text : {"", "127.0.0.1", "127.0.0.1:", ":9877", "localhost:9877", "127.0.0.1:65536", "127.0.0.1:-1",
                           "127.0.0.1: 1", "::1:9877", "[::1:9877", "[127.0.0.1]:1", "[::1]9877"}) {
    EXPECT_EQ(ListenAddress::Parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(
      ListenAddress::Parse("localhost:1").status().message(),
      "'localhost:1' is not ADDRESS:PORT with an address in numbers, such as 127.0.0.1:9877, 0.0.0.0:9877 or [::1]:0");
}

TEST(LocalOperatorsTest, NamesAndNumbers) {
  EXPECT_EQ(*UserId("root"), 0u);
  EXPECT_EQ(*UserId("4000000000"), 4000000000u) << "nobody's number may become somebody's";
  EXPECT_EQ(*GroupId("root"), 0u);
  EXPECT_EQ(*GroupId("12"), 12u);
}

TEST(LocalOperatorsTest, NobodyIsRefused) {
  EXPECT_EQ(UserId("no such user").status().message(), "user 'no such user' is unknown");
  EXPECT_EQ(GroupId("no such group").status().message(), "group 'no such group' is unknown");
  // chown(2) interprets -1 as "do not change".
  for (const char* text : {"4294967295", "4294967296", "-1", "+1", "1 ", ""}) {
    EXPECT_FALSE(UserId(text).ok()) << text;
    EXPECT_FALSE(GroupId(text).ok()) << text;
  }
}

}  // namespace

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/listen_address.h"

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
  EXPECT_EQ(ListenAddress::Parse("localhost:1").status().message(),
            "'localhost:1' is not ADDRESS:PORT, such as 127.0.0.1:9877 or [::1]:0");
}

}  // namespace
}  // namespace sideband::daemon

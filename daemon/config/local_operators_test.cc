// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/local_operators.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

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

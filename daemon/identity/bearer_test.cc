// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/bearer.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

TEST(BearerTest, TakesTheToken) {
  EXPECT_EQ(BearerToken("Bearer a.b.c"), "a.b.c");
  EXPECT_EQ(BearerToken("bearer  a.b.c \t"), "a.b.c") << "a scheme has no case (RFC 7235, 2.1)";
}

TEST(BearerTest, AnythingElseIsNobodysToken) {
  for (const char* field :
       {"", "Bearer", "Bearer ", "Basic YTpi", "Bearera.b.c", "a.b.c", " Bearer a.b.c", "Bearer\ta"}) {
    EXPECT_EQ(BearerToken(field), "") << field;
  }
}

}  // namespace
}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/history_query.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TEST(HistoryQueryTest, AsksForTheLastSeconds) {
  const auto request = ParseHistoryQuery("/page/history?event=a%20b&seconds=300", kNow);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->filter().events(0), "a b");
  EXPECT_EQ(request->since().seconds(), 1'799'999'700);
  EXPECT_FALSE(request->has_until());
  EXPECT_EQ(request->step().seconds(), 1);
}

TEST(HistoryQueryTest, RefusesEverythingElse) {
  for (const char* query : {"", "?event=a", "?seconds=1", "?event=&seconds=1", "?event=a&seconds=0",
                            "?event=a&seconds=86401", "?event=a&seconds=x", "?event=a&seconds=1&seconds=2",
                            "?event=a&event=b&seconds=1", "?event=a&seconds=1&x=1", "?event=%zz&seconds=1"}) {
    const auto request = ParseHistoryQuery(std::string("/page/history") + query, kNow);
    EXPECT_TRUE(absl::IsInvalidArgument(request.status())) << query;
  }
}

}  // namespace
}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "client/cli/past_options.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

TEST(WhenOptionTest, DurationsAreAgoAndTimesAreTimes) {
  const absl::Time now = absl::FromUnixSeconds(1'000'000);
  EXPECT_EQ(ParseWhen("5m", now), now - absl::Minutes(5));
  EXPECT_EQ(ParseWhen("1h30m", now), now - absl::Minutes(90));
  EXPECT_EQ(ParseWhen("0", now), now);
  EXPECT_EQ(ParseWhen("1970-01-01T00:00:01.5Z", now), absl::FromUnixMillis(1500));
  EXPECT_EQ(ParseWhen("1970-01-01T01:00:00+01:00", now), absl::UnixEpoch());
}

TEST(WhenOptionTest, AnythingElseIsRefused) {
  for (const char* text : {"", "5", "-5m", "inf", "5 minutes", "yesterday", "1970-01-01", "12:00", "infinite-past",
                           "infinite-future", "87841h"}) {
    EXPECT_FALSE(ParseWhen(text, absl::UnixEpoch()).has_value()) << text;
  }
}

}  // namespace

}  // namespace sideband::client

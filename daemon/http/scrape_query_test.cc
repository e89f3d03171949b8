// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/scrape_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using testing::ElementsAre;

TEST(ScrapeQueryTest, NothingAskedIsEverything) {
  EXPECT_TRUE(ParseScrapeQuery("/metrics")->SelectsEverything());
  EXPECT_TRUE(ParseScrapeQuery("/metrics?")->SelectsEverything());
  EXPECT_TRUE(ParseScrapeQuery("/metrics?&")->SelectsEverything());
}

TEST(ScrapeQueryTest, EventsAndScopesAdd) {
  const auto filter = *ParseScrapeQuery("/metrics?event[]=cycles&event%5B%5D=dram_bytes&scope=vm&scope=device");
  EXPECT_THAT(filter.events, ElementsAre("cycles", "dram_bytes"));
  EXPECT_TRUE(filter.devices);
  EXPECT_TRUE(filter.vms);
  EXPECT_FALSE(filter.contexts);
  EXPECT_FALSE(filter.hosts);
  EXPECT_TRUE(ParseScrapeQuery("/metrics?scope=host")->Selects(Level::kHost));
  EXPECT_THAT(ParseScrapeQuery("/metrics?event[]=a%20b%22")->events, ElementsAre("a b\""));
}

TEST(ScrapeQueryTest, WhatIsNotUnderstoodIsSaid) {
  for (const char* target :
       {"/metrics?x=1", "/metrics?scope=slice", "/metrics?scope", "/metrics?event[]=", "/metrics?event[]",
        "/metrics?=", "/metrics?event[]=%zz", "/metrics?event[]=%2", "metrics", "", "/metrics#event"}) {
    EXPECT_EQ(ParseScrapeQuery(target).status().code(), absl::StatusCode::kInvalidArgument) << target;
  }
  std::string many = "/metrics?scope=vm";
  for (size_t i = 0; i < kScrapeEventsMax; ++i) absl::StrAppend(&many, "&event[]=e", i);
  EXPECT_TRUE(ParseScrapeQuery(many).ok());
  EXPECT_FALSE(ParseScrapeQuery(many + "&event[]=one_more").ok());
}

}  // namespace
}  // namespace sideband::daemon

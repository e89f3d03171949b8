// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using testing::ElementsAre;

TEST(NegotiationTest, FormatIsWhatTheClientPrefers) {
  for (const char* open_metrics :
       {// Prometheus 2.42.
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
        "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "application/openmetrics-text", "Application/OpenMetrics-Text; version=1.0.0; q=0.2",
        "text/plain;q=0.3, application/openmetrics-text;q=0.3", "text/plain;Q=0.3, application/openmetrics-text;q=0.4",
        "application/openmetrics-text; Version=\"1.0.0\"; Q=0.2"}) {
    EXPECT_EQ(FormatFor(open_metrics), MetricsFormat::kOpenMetrics) << open_metrics;
  }
  for (const char* text : {"", "*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "text/plain",
                           "application/openmetrics-text;version=0.0.1", "application/openmetrics-text;version=2.0.0",
                           "application/openmetrics-text;q=0", "text/plain,application/openmetrics-text;q=0.9",
                           "application/openmetrics-text;q=x", ";;;,,,;q=", "application/openmetrics-textual",
                           "application/openmetrics-text;Q=0", "text/plain,application/openmetrics-text;Q=0.9",
                           "application/openmetrics-text;VERSION=0.0.1", "application/openmetrics-text;version=\""}) {
    EXPECT_EQ(FormatFor(text), MetricsFormat::kText) << text;
  }
}

TEST(NegotiationTest, GzipOnlyWhereItIsAccepted) {
  for (const char* yes : {"gzip", "deflate, gzip;q=1.0, *;q=0.5", "GZIP", "x-gzip", "*", "br, *;q=0.1",
                          " gzip ; q=0.001", "gzip;Q=1", "gzip;q", "gzip;qq=0"}) {
    EXPECT_TRUE(AcceptsGzip(yes)) << yes;
  }
  for (const char* no :
       {"", "identity", "gzip;q=0", "gzip;q=0, *", "*;q=0", "gzip;q=nonsense", "gzip;q=-1", "gzip;q=1e9", "gzippy",
        "deflate", ",,;;q", "gzip;q=nan", "gzip;Q=0", "GZIP; Q=0.000", "*;Q=0"}) {
    EXPECT_FALSE(AcceptsGzip(no)) << no;
  }
}

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

TEST(AuditQueryTest, AfterIsASequence) {
  EXPECT_EQ(*ParseAuditQuery("/audit"), 0u);
  EXPECT_EQ(*ParseAuditQuery("/audit?after=0"), 0u);
  EXPECT_EQ(*ParseAuditQuery("/audit?after=18446744073709551615"), 18446744073709551615u);
}

TEST(AuditQueryTest, AnythingElseIsRefused) {
  for (const char* target :
       {"/audit?after=", "/audit?after", "/audit?after=-1", "/audit?after=+1", "/audit?after=1x",
        "/audit?after=18446744073709551616", "/audit?before=1", "/audit?after=1&after=2", "/audit?after=%zz"}) {
    EXPECT_EQ(ParseAuditQuery(target).status().code(), absl::StatusCode::kInvalidArgument) << target;
  }
}

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TEST(HistoryQueryTest, AsksForTheLastSeconds) {
  const auto request = ParseHistoryQuery("/page/history?event=a%20b&seconds=300", kNow);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->filter().events(0), "a b");
  EXPECT_EQ(request->since().seconds(), 1'799'999'700);
  EXPECT_FALSE(request->has_until());
  EXPECT_EQ(request->step().seconds(), 1);
}

TEST(HistoryQueryTest, TakesASecondEvent) {
  const auto request = ParseHistoryQuery("/page/history?event=a&event=resident_cycles&seconds=300", kNow);
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_EQ(request->filter().events_size(), 2);
  EXPECT_EQ(request->filter().events(1), "resident_cycles");
}

TEST(HistoryQueryTest, RefusesEverythingElse) {
  for (const char* query :
       {"", "?event=a", "?seconds=1", "?event=&seconds=1", "?event=a&seconds=0", "?event=a&seconds=86401",
        "?event=a&seconds=x", "?event=a&seconds=1&seconds=2", "?event=a&event=b&event=c&seconds=1",
        "?event=a&event=&seconds=1", "?event=a&seconds=1&x=1", "?event=%zz&seconds=1"}) {
    const auto request = ParseHistoryQuery(std::string("/page/history") + query, kNow);
    EXPECT_TRUE(absl::IsInvalidArgument(request.status())) << query;
  }
}

}  // namespace

}  // namespace sideband::daemon

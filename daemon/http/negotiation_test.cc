// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/negotiation.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

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

}  // namespace
}  // namespace sideband::daemon

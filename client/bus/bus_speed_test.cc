// SPDX-License-Identifier: Apache-2.0
#include "client/bus/bus_speed.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

TEST(BusSpeedTest, Parses) {
  EXPECT_EQ(*ParseBusSpeed("100k"), 100'000u);
  EXPECT_EQ(*ParseBusSpeed("1M"), 1'000'000u);
  EXPECT_EQ(*ParseBusSpeed("400000"), 400'000u);
  EXPECT_EQ(*ParseBusSpeed("1k"), kBusHzMin);
  EXPECT_EQ(*ParseBusSpeed("10M"), kBusHzMax);
}

TEST(BusSpeedTest, RefusesTheRest) {
  for (const char* text :
       {"", "k", "100K", "999", "11M", "10000001", "-100k", "1kM", "0x10k", "18446744073709551615M"}) {
    EXPECT_FALSE(ParseBusSpeed(text).ok()) << text;
  }
  EXPECT_EQ(ParseBusSpeed("fast").status().message(), "'fast' is no bus speed from 1k to 10M, such as 100k");
}

}  // namespace
}  // namespace sideband::client

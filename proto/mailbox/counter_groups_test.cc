// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/counter_groups.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::mailbox {
namespace {

using Counters = std::vector<uint64_t>;

size_t RoundTrip(const Counters& counters) {
  BitWriter out;
  EncodeCounters(counters, out);
  const size_t bits = out.size();
  EXPECT_EQ(bits, CountersBits(counters));
  const Bytes bytes = std::move(out).Take();
  BitReader in(bytes);
  Counters read(counters.size(), 99);
  EXPECT_TRUE(DecodeCounters(in, read));
  EXPECT_EQ(read, counters);
  EXPECT_TRUE(in.AtEnd());
  return bits;
}

TEST(CounterGroupsTest, LikeCountersShareAWidth) {
  EXPECT_EQ(RoundTrip(Counters(64, 0)), 3u + 4 * 1) << "four groups of nothing";
  EXPECT_EQ(RoundTrip(Counters(64, 1000)), 3u + 4 * 7 + 64 * 10);
}

TEST(CounterGroupsTest, UnlikeCountersDoNot) {
  Counters counters(64, 0);
  counters[5] = ~uint64_t{0};
  EXPECT_EQ(RoundTrip(counters), 3u + 63 + (7 + 64)) << "by themselves, instead of 16 of 64 bits";
}

TEST(CounterGroupsTest, AnyNumberOfCounters) {
  for (size_t size = 0; size < 40; ++size) {
    Counters counters(size);
    for (size_t i = 0; i < size; ++i) counters[i] = uint64_t{0x9E3779B97F4A7C15} >> (i * 7 % 64);
    RoundTrip(counters);
  }
}

TEST(CounterGroupsTest, ImpossibleSizesOfGroupsAreRefused) {
  for (const uint8_t log : {5, 6, 7}) {
    const Bytes bytes = {log, 0, 0};
    BitReader in(bytes);
    Counters counters(4);
    EXPECT_FALSE(DecodeCounters(in, counters)) << int{log};
  }
}

}  // namespace
}  // namespace sideband::mailbox

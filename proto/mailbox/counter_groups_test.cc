// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/counter_groups.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace sideband::mailbox {
namespace {

using Counters = std::vector<uint64_t>;

size_t RoundTrip(const Counters& counters, const Counters& before = {}) {
  BitWriter out;
  EncodeCounters(counters, before, out);
  const size_t bits = out.size();
  EXPECT_EQ(bits, CountersBits(counters, before));
  const Bytes bytes = std::move(out).Take();
  BitReader in(bytes);
  Counters read(counters.size(), 99);
  EXPECT_TRUE(DecodeCounters(in, before, read));
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

TEST(CounterGroupsTest, WhatHasCountedMuchGoesOnSo) {
  Counters before, increments;
  for (uint32_t i = 0; i < 64; ++i) {
    before.push_back(uint64_t{1} << (20 + i * 7 % 30));
    increments.push_back(before.back() >> 10);
  }
  size_t widths = 0;
  for (const uint64_t increment : increments) widths += std::bit_width(increment);
  EXPECT_EQ(RoundTrip(increments, before), 3u + 4 * 8 + widths) << "no bit to spare";
  EXPECT_GT(RoundTrip(increments), 3u + 4 * 8 + widths + 64);
}

TEST(CounterGroupsTest, AnyIncrementsAfterAnything) {
  const uint64_t kValues[] = {0, 1, 2, 0xFF, uint64_t{1} << 40, ~uint64_t{0}};
  for (const uint64_t was : kValues) {
    for (const uint64_t more : kValues) {
      RoundTrip(Counters(20, more), Counters(20, was));
      RoundTrip({more, 0, 0, 5}, {was, 0, 7, was});
    }
  }
}

TEST(CounterGroupsTest, ImpossibleFormsAreRefused) {
  Counters counters(4), before(4);
  for (const uint8_t form : {6, 7}) {
    const Bytes bytes = {form, 0, 0};
    BitReader in(bytes);
    EXPECT_FALSE(DecodeCounters(in, before, counters)) << int{form};
  }
  const Bytes as_before = {5, 0, 0};
  BitReader in(as_before);
  EXPECT_FALSE(DecodeCounters(in, {}, counters)) << "there was nothing before";
}

}  // namespace
}  // namespace sideband::mailbox

// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/blocks.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace sideband::mailbox {
namespace {

using Counters = std::vector<uint64_t>;

size_t RoundTrip(const Counters& counters, const Counters& before = {}, Forms forms = Forms::kAsBefore) {
  BitWriter out;
  EncodeCounters(counters, before, forms, out);
  const size_t bits = out.size();
  EXPECT_EQ(bits, CountersBits(counters, before, forms));
  const Bytes bytes = std::move(out).Take();
  BitReader in(bytes);
  Counters read(counters.size(), 99);
  EXPECT_TRUE(DecodeCounters(in, before, forms, read));
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
      for (const Forms forms : {Forms::kAsBefore, Forms::kProportional}) {
        RoundTrip(Counters(20, more), Counters(20, was), forms);
        RoundTrip({more, 0, 0, 5}, {was, 0, 7, was}, forms);
      }
    }
  }
}

// A third more of each counter, with small differences.
TEST(CounterGroupsTest, WhatGrowsInProportionCostsItsDifferences) {
  Counters before, increments;
  for (uint64_t i = 0; i < 64; ++i) {
    before.push_back(3 * ((i + 1) << 24));
    increments.push_back(before.back() / 3 + (i % 2 == 0 ? 1 : ~uint64_t{0}));
  }
  const size_t sum = 7 + 36;  // 64 * 65 / 2 << 24 has 36 bits
  EXPECT_EQ(RoundTrip(increments, before, Forms::kProportional), 3u + 3 + sum + 4 * 7 + 64 * 2);
  EXPECT_GT(RoundTrip(increments, before), 64u * 24);
}

TEST(CounterGroupsTest, ProportionsMayBeAsLargeAsCounters) {
  constexpr uint64_t kMost = ~uint64_t{0};
  RoundTrip(Counters(70, kMost), Counters(70, kMost), Forms::kProportional);
  RoundTrip({kMost, 0, 1, kMost - 1}, {kMost, kMost, 1, kMost}, Forms::kProportional);
}

bool Decodes(const Bytes& bytes, const Counters& before, Forms forms) {
  BitReader in(bytes);
  Counters counters(4);
  return DecodeCounters(in, before, forms, counters);
}

TEST(CounterGroupsTest, ImpossibleFormsAreRefused) {
  const Counters before(4, 1);
  EXPECT_FALSE(Decodes({6, 0, 0}, before, Forms::kAsBefore));
  EXPECT_TRUE(Decodes({6, 0, 0}, before, Forms::kProportional));
  EXPECT_FALSE(Decodes({7, 0, 0}, before, Forms::kProportional));
  EXPECT_FALSE(Decodes({5, 0, 0}, {}, Forms::kProportional)) << "there was nothing before";
  EXPECT_FALSE(Decodes({6, 0, 0}, {}, Forms::kProportional)) << "there was nothing before";
  EXPECT_FALSE(Decodes({6, 0, 0}, Counters(4), Forms::kProportional)) << "nothing to be in proportion to";
  EXPECT_FALSE(Decodes({6 | 5 << 3, 0, 0}, before, Forms::kProportional)) << "groups of 32";
}

}  // namespace

}  // namespace sideband::mailbox

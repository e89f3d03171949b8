// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/counts.h"

#include <gtest/gtest.h>

namespace sideband::envelope {
namespace {

SealedCounts Small() {
  SealedCounts counts{.snapshot_id = 7, .trigger_id = 9, .host_time_ns = 1'700'000'000'000'000'000, .events = 3};
  counts.rows = {{.generation = 2, .state = 1}, {.context = 4, .name = "train", .slice = 1, .flags = 5}};
  counts.counts = {1, 2, 3, 4, 5, ~uint64_t{0}};
  return counts;
}

SealedCounts WithTurns() {
  SealedCounts counts = Small();
  counts.coverage = {1, 0.5, 0, 1, 0.25, 1};
  counts.rotated = {1};
  counts.estimates = {
      {.standard_error = 3, .lower = 1, .upper = 9, .time_enabled_ns = 10, .time_running_ns = 5, .method = 1},
      {.lower = 2}};
  return counts;
}

TEST(CountsTest, ComeBack) {
  for (const SealedCounts& counts : {Small(), WithTurns(), SealedCounts{}}) {
    const auto decoded = DecodeCounts(EncodeCounts(counts));
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(*decoded, counts);
  }
  EXPECT_EQ(WithTurns().Estimates(1)[0].lower, 2);
  EXPECT_EQ(WithTurns().Coverage(1)[1], 0.25);
  EXPECT_TRUE(Small().Coverage(0).empty());
}

TEST(CountsTest, TheSizeDoesNotDependOnTheNumbers) {
  SealedCounts counts = WithTurns();
  const size_t size = EncodeCounts(counts).size();
  for (uint64_t& count : counts.counts) count = 0;
  for (double& coverage : counts.coverage) coverage = 0;
  counts.snapshot_id = counts.trigger_id = 0;
  counts.host_time_ns = 0;
  counts.rows[1].flags = 0;
  counts.estimates = {{}, {}};
  EXPECT_EQ(EncodeCounts(counts).size(), size);
}

TEST(CountsTest, HasTheBytesOfTheReadme) {
  SealedCounts counts{.snapshot_id = 0x07, .trigger_id = 0x09, .host_time_ns = 0, .events = 1};
  counts.rows = {{.context = 2, .name = "ab", .slice = 3, .generation = 5, .state = 1, .flags = 4}};
  counts.counts = {0x0102030405060708};
  const SecretBytes bytes = EncodeCounts(counts);
  const Bytes expected = {1, 0, 1, 0, 1, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 0, 0,   0,   0, 0, 0, 0, 0, 0, 0, 0,
                          0, 0, 0, 0, 0, 2, 0, 1, 3, 4, 0, 5, 0, 0, 0, 0, 2, 'a', 'b', 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_EQ(Bytes(bytes.begin(), bytes.end()), expected);
}

TEST(CountsTest, EveryCutAndEveryLongerTextIsRefused) {
  const SecretBytes bytes = EncodeCounts(WithTurns());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeCounts(ByteSpan(bytes).first(size)).ok()) << size;
  }
  SecretBytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(DecodeCounts(longer).ok());
}

TEST(CountsTest, RefusesAnotherVersionAndEventsThatAreNone) {
  SecretBytes bytes = EncodeCounts(Small());
  bytes[0] = 2;
  EXPECT_FALSE(DecodeCounts(bytes).ok());
  SealedCounts counts = WithTurns();
  counts.rotated = {3};
  EXPECT_FALSE(DecodeCounts(EncodeCounts(counts)).ok());
}

}  // namespace
}  // namespace sideband::envelope

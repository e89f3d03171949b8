// SPDX-License-Identifier: Apache-2.0
#include "client/lib/sealed_snapshot.h"

#include <gtest/gtest.h>

#include "proto/envelope/counts.h"

namespace sideband::client {
namespace {

constexpr Uuid kSnapshotVm{{2}};

envelope::SealedCounts Counts() {
  envelope::SealedCounts counts{.snapshot_id = 7, .trigger_id = 9, .host_time_ns = 3'000'000'005, .events = 2};
  counts.rows = {{.generation = 4, .state = 1}, {.context = 5, .name = "train", .slice = 1, .flags = 1}};
  counts.counts = {10, 11, 20, 21};
  return counts;
}

OpenResult Opened(const envelope::SealedCounts& counts) {
  return {.header = {.boot_id = 3, .vm = kSnapshotVm, .reference_time_ns = 8},
          .content = envelope::EncodeCounts(counts)};
}

TEST(SealedSnapshotTest, HasEveryNumber) {
  const auto content = SealedContentOf(Opened(Counts()), {"reads", "cycles"});
  ASSERT_TRUE(content.ok());
  const sideband::v1::Snapshot& snapshot = content->snapshot();
  EXPECT_EQ(snapshot.boot_id(), 3);
  EXPECT_EQ(snapshot.snapshot_id(), 7);
  EXPECT_EQ(snapshot.trigger_id(), 9);
  EXPECT_EQ(snapshot.reference_time_ns(), 8);
  EXPECT_EQ(snapshot.host_time().nanos(), 5);
  ASSERT_EQ(snapshot.scopes_size(), 2);
  EXPECT_EQ(snapshot.scopes(0).state(), sideband::v1::ScopeCounters::STATE_IDLE);
  EXPECT_FALSE(snapshot.scopes(0).scope().has_slice());
  EXPECT_EQ(snapshot.scopes(1).scope().context(), "train");
  EXPECT_EQ(snapshot.scopes(1).scope().slice(), 1);
  EXPECT_EQ(snapshot.scopes(1).flags(0), "overflow");
  EXPECT_EQ(snapshot.scopes(1).counters(1).event(), "cycles");
  EXPECT_EQ(snapshot.scopes(1).counters(1).count(), 21);
  EXPECT_FALSE(snapshot.scopes(1).counters(1).has_coverage());
}

TEST(SealedSnapshotTest, WhatWasCountedInNoCycleHasNoNumber) {
  envelope::SealedCounts counts = Counts();
  counts.coverage = {0, 1, 0.5, 1};
  counts.rotated = {0};
  counts.estimates = {{}, {.standard_error = 3, .lower = 9, .method = 1}};
  const auto content = SealedContentOf(Opened(counts), {"reads", "cycles"});
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content->snapshot().scopes(0).counters_size(), 1);
  const sideband::v1::Counter& estimated = content->snapshot().scopes(1).counters(0);
  EXPECT_EQ(estimated.coverage(), 0.5);
  EXPECT_EQ(estimated.estimate().lower(), 9);
  EXPECT_FALSE(estimated.estimate().has_upper());
}

TEST(SealedSnapshotTest, AnotherNumberOfEventsIsRefused) {
  EXPECT_TRUE(absl::IsDataLoss(SealedContentOf(Opened(Counts()), {"reads"}).status()));
  EXPECT_TRUE(absl::IsDataLoss(SealedContentOf({.content = {1, 2, 3}}, {}).status()));
}

}  // namespace
}  // namespace sideband::client

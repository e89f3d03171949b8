// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/mark_book.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"

namespace sideband::daemon {
namespace {

constexpr size_t kDeviceId = 0;
const Uuid kMarkedVm = *Uuid::Parse("11111111-0000-4000-8000-000000000001");
constexpr MarkScope kScope{.boot_id = 7, .vm = 1, .context = 2, .generation = 3};

Mark Of(const MarkScope& scope, const char* label = "x") { return {.scope = scope, .vm = kMarkedVm, .label = label}; }

// A snapshot of the scope's block, with two counters; and one bookmark of it.
mailbox::Snapshot With(uint32_t bookmark, uint64_t served_ns, const MarkScope& scope = kScope) {
  mailbox::Snapshot raw{.boot_id = scope.boot_id, .reference_time_ns = 5000, .counters_per_block = 2};
  raw.blocks = {{}, {.vm = scope.vm, .context = scope.context, .generation = scope.generation, .flags = 4}};
  raw.counters = {0, 0, 50, 60};
  raw.bookmarks = {
      {.number = 1, .block = 1, .bookmark = bookmark, .asked_ns = 900, .served_ns = served_ns, .counters = {10, 20}}};
  return raw;
}

class MarkBookTest : public testing::Test {
 protected:
  uint32_t Marked(const MarkScope& scope = kScope) {
    now_ += absl::Seconds(1);
    const uint32_t bookmark = *book_.Begin(kDeviceId, Of(scope), now_);
    EXPECT_TRUE(book_.Requested(kDeviceId, bookmark, 899).has_value());
    return bookmark;
  }
  Mark::State StateOf(uint64_t id) { return book_.Find(kDeviceId, kMarkedVm, id)->state; }

  const LatchTime latched_{{absl::FromUnixSeconds(100), absl::Microseconds(3)}, 1e-3};
  absl::Duration now_ = absl::Seconds(50);
  MarkBook book_{1000};
};

TEST_F(MarkBookTest, AMarkIsReadFromTheSnapshotThatHasIt) {
  const uint32_t bookmark = Marked();
  EXPECT_EQ(StateOf(1), Mark::State::kPending);
  book_.Read(kDeviceId, With(bookmark, 1000), latched_);
  const Mark mark = *book_.Find(kDeviceId, kMarkedVm, 1);
  EXPECT_EQ(mark.state, Mark::State::kRead);
  EXPECT_EQ(mark.requested_ns, 900u);
  EXPECT_EQ(mark.served_ns, 1000u);
  EXPECT_EQ(mark.counters, (std::vector<uint64_t>{10, 20}));
  EXPECT_EQ(mark.flags, 4u);
  EXPECT_EQ(mark.instant->time, latched_.instant.time - absl::Nanoseconds(4000));
  EXPECT_EQ(mark.instant->error, latched_.instant.error + absl::Nanoseconds(4 + 1)) << "rounded";
}

TEST_F(MarkBookTest, BookmarksOfOthersAreNone) {
  const uint32_t bookmark = Marked();
  book_.Read(kDeviceId, With(bookmark + 1, 1000), latched_);
  EXPECT_EQ(StateOf(1), Mark::State::kPending);
  mailbox::Snapshot elsewhere = With(bookmark, 1000);
  elsewhere.bookmarks[0].block = 0;
  book_.Read(kDeviceId, elsewhere, latched_);
  EXPECT_EQ(StateOf(1), Mark::State::kPending) << "of another block";
}

TEST_F(MarkBookTest, AMarkOfWhatIsGoneIsLost) {
  Marked();
  MarkScope next = kScope;
  ++next.generation;
  book_.Read(kDeviceId, With(1, 1000, next), latched_);
  EXPECT_EQ(StateOf(1), Mark::State::kLost);
  Marked();
  MarkScope restarted = kScope;
  ++restarted.boot_id;
  book_.Read(kDeviceId, With(1, 1000, restarted), latched_);
  EXPECT_EQ(StateOf(2), Mark::State::kLost);
}

TEST_F(MarkBookTest, AMarkThatTheDeviceHasDroppedIsLost) {
  Marked();
  mailbox::Snapshot other = With(1, 1000);
  other.reference_time_ns = 899 + static_cast<uint64_t>(absl::ToInt64Nanoseconds(MarkBook::kServedWithin));
  book_.Read(kDeviceId, other, latched_);
  EXPECT_EQ(StateOf(1), Mark::State::kPending);
  ++other.reference_time_ns;
  book_.Read(kDeviceId, other, latched_);
  EXPECT_EQ(StateOf(1), Mark::State::kLost);
}

// A tenant's view of its own marks tells nothing of others.
TEST_F(MarkBookTest, ADeviceWhoseTimeGoesBackHasLostIt) {
  Marked();
  mailbox::Snapshot back = With(1, 100);
  back.reference_time_ns = 898;
  book_.Read(kDeviceId, back, latched_);
  EXPECT_EQ(StateOf(1), Mark::State::kLost);
}

TEST_F(MarkBookTest, IdsAreOfTheVm) {
  Marked();
  Mark other = Of({.boot_id = 7, .vm = 2});
  other.vm = *Uuid::Parse("22222222-0000-4000-8000-000000000002");
  ASSERT_TRUE(book_.Begin(kDeviceId, other, now_).ok());
  EXPECT_TRUE(book_.Find(kDeviceId, other.vm, 1).has_value());
}

TEST_F(MarkBookTest, AScopeHasAsManyPendingMarksAsTheDeviceKeeps) {
  for (size_t i = 0; i < MarkBook::kPendingMax; ++i) Marked();
  const absl::Status refused = book_.Begin(kDeviceId, Of(kScope), now_ + absl::Seconds(5)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  MarkScope other = kScope;
  other.context = 9;
  EXPECT_TRUE(book_.Begin(kDeviceId, Of(other), now_).ok());
}

TEST_F(MarkBookTest, AVmHasTenASecond) {
  for (uint16_t context = 0; context < MarkLimits().per_second; ++context) {
    EXPECT_TRUE(book_.Begin(kDeviceId, Of({.boot_id = 7, .vm = 1, .context = context}), now_).ok());
  }
  EXPECT_TRUE(
      absl::IsResourceExhausted(book_.Begin(kDeviceId, Of({.boot_id = 7, .vm = 1, .context = 99}), now_).status()));
  EXPECT_TRUE(book_.Begin(kDeviceId, Of({.boot_id = 7, .vm = 1, .context = 99}), now_ + absl::Seconds(1)).ok());
  MarkBook slow(1000, {.per_second = 1});
  ASSERT_TRUE(slow.Begin(kDeviceId, Of({.boot_id = 7, .vm = 1, .context = 1}), now_).ok());
  const absl::Status second = slow.Begin(kDeviceId, Of({.boot_id = 7, .vm = 1, .context = 2}), now_).status();
  EXPECT_TRUE(absl::StartsWith(second.message(), "at most 1 mark a second for a VM;")) << second;
}

TEST_F(MarkBookTest, TheNewestOfAVmAreKept) {
  for (size_t i = 0; i <= MarkLimits().kept; ++i) book_.Read(kDeviceId, With(Marked(), 1000), latched_);
  const std::vector<Mark> marks = book_.Of(kDeviceId, kMarkedVm);
  EXPECT_EQ(marks.size(), MarkLimits().kept);
  EXPECT_EQ(marks.front().id, 2u);
  EXPECT_FALSE(book_.Find(kDeviceId, kMarkedVm, 1).has_value());
}

TEST_F(MarkBookTest, PendingOnesAreKeptInAnyCase) {
  MarkBook small(1, {.per_second = 10, .kept = 1});
  std::vector<uint32_t> bookmarks;
  for (uint16_t context = 0; context < 3; ++context) {
    bookmarks.push_back(*small.Begin(kDeviceId, Of({.boot_id = 7, .vm = 1, .context = context}), now_));
  }
  EXPECT_EQ(small.Of(kDeviceId, kMarkedVm).size(), 3u);
  EXPECT_TRUE(small.Requested(kDeviceId, bookmarks[0], 5).has_value());
}

TEST_F(MarkBookTest, WhatTheDeviceDidNotTakeIsNoMark) {
  const uint32_t bookmark = *book_.Begin(kDeviceId, Of(kScope), now_);
  book_.Drop(kDeviceId, bookmark);
  EXPECT_TRUE(book_.Of(kDeviceId, kMarkedVm).empty());
  EXPECT_FALSE(book_.Requested(kDeviceId, bookmark, 1).has_value());
}

TEST_F(MarkBookTest, ARemovedDeviceHasNone) {
  Marked();
  book_.Forget(kDeviceId);
  EXPECT_TRUE(book_.Of(kDeviceId, kMarkedVm).empty());
}

}  // namespace

}  // namespace sideband::daemon

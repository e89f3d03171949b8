// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/bookmark_section.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/mailbox/any_number.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/snapshot_stream.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

// The device and a VM, with two counters each.
Snapshot SnapshotWithBookmark() {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = 7, .reference_time_ns = 1000, .counters_per_block = 2};
  snapshot.blocks = {{.vm = kHypervisorVm}, {.vm = 1}};
  snapshot.counters = {100, 50, 40, 9};
  snapshot.bookmarks = {
      {.number = 3, .block = 1, .bookmark = 17, .asked_ns = 900, .served_ns = 902, .counters = {37, 9}}};
  return snapshot;
}

Snapshot Decoded(const Snapshot& snapshot, const Snapshot* base, const VmIds& whole = {}) {
  return *DecodeSnapshotStream(EncodeSnapshotStream(snapshot, base, whole, Framing::kSections), base);
}

// README.md, "Bookmarks".
TEST(BookmarkSectionTest, BytesAreThoseOfTheDocument) {
  const Bytes bits = EncodeBookmarks(SnapshotWithBookmark(), nullptr, {});
  EXPECT_EQ(bits, (Bytes{0x01, 0x00, 0x83, 0x03, 0x00, 0x22, 0x00, 0x00, 0x00, 0x1A, 0xE2, 0x81, 0x83, 0x01}));
}

uint64_t UpTo(uint64_t most) { return most == UINT64_MAX ? AnyNumber() : AnyNumber() % (most + 1); }

Snapshot AnySnapshot() {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = 7, .reference_time_ns = AnyNumber()};
  snapshot.counters_per_block = *rc::gen::inRange<uint32_t>(0, 5);
  const auto blocks = *rc::gen::inRange<uint16_t>(1, 4);
  for (uint16_t vm = 0; vm < blocks; ++vm) snapshot.blocks.push_back({.vm = vm});
  for (size_t i = blocks * snapshot.counters_per_block; i > 0; --i) snapshot.counters.push_back(AnyNumber());
  uint64_t number = 0;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    ServedBookmark served{.number = number += 1 + AnyNumber() / 8, .bookmark = static_cast<uint32_t>(AnyNumber())};
    served.block = *rc::gen::inRange<uint16_t>(0, blocks);
    served.served_ns = UpTo(snapshot.reference_time_ns);
    served.asked_ns = UpTo(served.served_ns);
    for (const uint64_t now : snapshot.Counters(served.block)) served.counters.push_back(UpTo(now));
    snapshot.bookmarks.push_back(served);
  }
  return snapshot;
}

RC_GTEST_PROP(BookmarkSectionPropertyTest, AnyBookmarksComeBack, ()) {
  const Snapshot snapshot = AnySnapshot();
  RC_ASSERT(Decoded(snapshot, nullptr) == snapshot);
}

RC_GTEST_PROP(BookmarkSectionPropertyTest, EveryPrefixAndEveryExtraByteIsRefused, ()) {
  const Snapshot snapshot = AnySnapshot();
  RC_PRE(!snapshot.bookmarks.empty());
  Bytes bits = EncodeBookmarks(snapshot, nullptr, {});
  Snapshot bare = snapshot;
  bare.bookmarks.clear();
  for (size_t size = 0; size < bits.size(); ++size) {
    Snapshot read = bare;
    RC_ASSERT(absl::IsDataLoss(DecodeBookmarks(ByteSpan(bits).first(size), read)));
  }
  bits.push_back(0);
  RC_ASSERT(DecodeBookmarks(bits, bare) == absl::DataLossError("bookmarks: bits left over"));
}

TEST(BookmarkSectionTest, ThoseOfTheBaseAreNotSentAgain) {
  const Snapshot base = AsBase(SnapshotWithBookmark(), {});
  Snapshot next = SnapshotWithBookmark();
  next.snapshot_id = 8;
  next.reference_time_ns = 2000;
  next.counters[2] = 45;
  EXPECT_TRUE(Decoded(next, &base).bookmarks.empty());
  next.bookmarks.push_back(
      {.number = 5, .block = 1, .bookmark = 18, .asked_ns = 1500, .served_ns = 1500, .counters = {41, 9}});
  const Snapshot read = Decoded(next, &base);
  ASSERT_EQ(read.bookmarks.size(), 1u);
  EXPECT_EQ(read.bookmarks[0], next.bookmarks[1]);
}

TEST(BookmarkSectionTest, ThoseOfConfidentialVmsAreInNoStream) {
  EXPECT_TRUE(Decoded(SnapshotWithBookmark(), nullptr, {1}).bookmarks.empty());
  EXPECT_TRUE(EncodeBookmarks(SnapshotWithBookmark(), nullptr, {1}).empty());
}

TEST(BookmarkSectionTest, VersionOneHasNone) {
  EXPECT_TRUE(
      DecodeSnapshotStream(EncodeSnapshotStream(SnapshotWithBookmark(), nullptr, {}), nullptr)->bookmarks.empty());
}

TEST(BookmarkSectionTest, BookmarksThatLieAreRefused) {
  const auto spoilt = [](void (*spoil)(Snapshot&)) {
    Snapshot sent = SnapshotWithBookmark(), read = SnapshotWithBookmark();
    read.bookmarks.clear();
    spoil(sent);
    return std::string(DecodeBookmarks(EncodeBookmarks(sent, nullptr, {}), read).message());
  };
  EXPECT_EQ(spoilt([](Snapshot&) {}), "");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.bookmarks.push_back(s.bookmarks[0]); }), "bookmarks: numbers do not ascend");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.bookmarks[0].served_ns = 1001; }), "bookmarks: one from before the boot");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.bookmarks[0].asked_ns = 903; }), "bookmarks: one from before the boot");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.bookmarks[0].counters[1] = 10; }),
            "bookmarks: one with more counts than its block");
  EXPECT_EQ(spoilt([](Snapshot& s) {
              s.blocks.push_back({.vm = 2});
              s.counters.insert(s.counters.end(), {9, 9});
              s.bookmarks[0].block = 2;
            }),
            "bookmarks: one of an unknown block");
  EXPECT_EQ(spoilt([](Snapshot& s) {
              while (s.bookmarks.size() <= kBookmarksKept) {
                s.bookmarks.push_back(s.bookmarks.back());
                ++s.bookmarks.back().number;
              }
            }),
            "bookmarks: more of a block than are kept");
  Snapshot read = SnapshotWithBookmark();
  EXPECT_EQ(DecodeBookmarks(Bytes{0, 0}, read), absl::DataLossError("bookmarks: none"));
}

}  // namespace
}  // namespace sideband::mailbox

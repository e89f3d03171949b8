// SPDX-License-Identifier: Apache-2.0
#include "client/bus/mailbox_follower.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "proto/mailbox/peek.h"
#include "proto/mailbox/stream.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::Opcode;

class StreamFollowerTest : public testing::Test {
 protected:
  // Feeds the windows of the stream from `offset` on, at most `count`; returns the text of the last.
  StreamFollower::WindowText Windows(uint32_t offset, uint8_t count, uint32_t width = mailbox::kWindowBytes) {
    StreamFollower::WindowText last;
    for (uint8_t i = 0; i < count; ++i) {
      const size_t begin = offset + i * width;
      last = follower_.Window(i, ByteSpan(stream_).subspan(begin, std::min<size_t>(width, stream_.size() - begin)));
    }
    return last;
  }
  void Read(uint32_t offset, uint8_t arg2 = 0) {
    follower_.Command({.opcode = Opcode::kRead, .arg2 = arg2}, {.data = offset, .extended_data = 7});
    follower_.Length(static_cast<uint32_t>(stream_.size()));
  }

  const Bytes stream_ = mailbox::EncodeStream(
      {.kind = mailbox::StreamKind::kSnapshot, .boot_id = 0x1122334455667788, .snapshot_id = 7}, Bytes(600, 0xAB));
  StreamFollower::Budget budget_;
  StreamFollower follower_{budget_};
};

TEST_F(StreamFollowerTest, SaysWhichBytesAndWhenItIsComplete) {
  Read(0);
  EXPECT_EQ(Windows(0, 1).text, "bytes 0 to 254 of 632 of snapshot 7");
  const auto last = Windows(0, 3);
  EXPECT_EQ(last.text, "bytes 510 to 631 of 632 of snapshot 7");
  EXPECT_EQ(last.completed, "snapshot 7 complete: 632 bytes, CRC ok, boot 1122334455667788");
  EXPECT_EQ(Windows(0, 3).completed, "") << "it is told once";
  Read(0);
  EXPECT_NE(Windows(0, 3).completed, "") << "read again, it is told again";
}

TEST_F(StreamFollowerTest, ACatalogue) {
  const Bytes catalog = mailbox::EncodeStream({.kind = mailbox::StreamKind::kCatalog, .boot_id = 1}, {});
  follower_.Command({.opcode = Opcode::kCatalog}, {.data = 0});
  follower_.Length(32);
  const auto only = follower_.Window(0, catalog);
  EXPECT_EQ(only.text, "bytes 0 to 31 of 32 of the catalogue");
  EXPECT_EQ(only.completed, "catalogue complete: 32 bytes, CRC ok, boot 0000000000000001");
}

TEST_F(StreamFollowerTest, ASnapshotMayBeRelative) {
  const Bytes stream =
      mailbox::EncodeStream({.kind = mailbox::StreamKind::kSnapshot, .boot_id = 1, .snapshot_id = 7, .base_id = 6}, {});
  follower_.Command({.opcode = Opcode::kLatch}, {.data = 6});
  follower_.Latched(7);
  follower_.Length(32);
  EXPECT_EQ(follower_.Window(0, stream).completed,
            "snapshot 7 complete: 32 bytes since snapshot 6, CRC ok, boot 0000000000000001");
}

TEST_F(StreamFollowerTest, AConfigurationIsAStreamOfItsOwn) {
  const Bytes stream = mailbox::EncodeStream({.kind = mailbox::StreamKind::kConfig, .boot_id = 1}, {});
  follower_.Command({.opcode = Opcode::kConfig, .arg1 = 6}, {.data = 0});
  follower_.Length(32);
  const auto only = follower_.Window(0, stream);
  EXPECT_EQ(only.text, "bytes 0 to 31 of 32 of the configuration");
  EXPECT_EQ(only.completed, "configuration complete: 32 bytes, CRC ok, boot 0000000000000001");
}

TEST_F(StreamFollowerTest, TimelinesAndHullsNameTheirFirstTrigger) {
  const auto last = [this](mailbox::StreamKind kind, uint8_t step) {
    follower_.Command({.opcode = Opcode::kTrigger, .arg1 = step}, {.data = 5, .extended_data = 0});
    follower_.Length(32);
    return follower_.Window(0, mailbox::EncodeStream({.kind = kind, .boot_id = 1, .snapshot_id = 5}, {}));
  };
  const auto timeline = last(mailbox::StreamKind::kTimeline, 5), hulls = last(mailbox::StreamKind::kHulls, 6);
  EXPECT_EQ(timeline.text, "bytes 0 to 31 of 32 of a timeline");
  EXPECT_EQ(timeline.completed, "timeline from trigger 5 on complete: 32 bytes, CRC ok, boot 0000000000000001");
  EXPECT_EQ(hulls.text, "bytes 0 to 31 of 32 of hulls");
  EXPECT_EQ(hulls.completed, "hulls from trigger 5 on complete: 32 bytes, CRC ok, boot 0000000000000001");
}

TEST_F(StreamFollowerTest, LiveCountersHaveTheLengthOfTheirBitmap) {
  const Bytes peek = mailbox::EncodePeekStream(
      {.boot_id = 1, .tag = 9, .question = {.bitmap = uint64_t{1} << 32 | 1}, .counters = {5, 6}});
  follower_.Command({.opcode = Opcode::kPeek, .arg1 = 0}, {.data = 0, .extended_data = 1});
  follower_.Command({.opcode = Opcode::kPeek, .arg1 = 1}, {.data = 1, .extended_data = 1});
  const auto only = follower_.Window(0, peek);
  EXPECT_EQ(only.text, "bytes 0 to 85 of 86 of live counters");
  EXPECT_EQ(only.completed, "live counters complete: 86 bytes, CRC ok, tag 9, boot 0000000000000001");
}

TEST_F(StreamFollowerTest, ASecondSpanGoesOn) {
  Read(0);
  Windows(0, 1);
  Read(255);
  EXPECT_NE(Windows(255, 2).completed, "");
}

TEST_F(StreamFollowerTest, ALatchOpensItsSnapshot) {
  follower_.Command({.opcode = Opcode::kLatch}, {.data = 6});
  EXPECT_EQ(follower_.Window(0, ByteSpan(stream_).first(255)).text, "bytes 0 to 254 of a snapshot");
  follower_.Latched(7);
  follower_.Length(632);
  Read(255);
  const auto last = Windows(255, 2);
  EXPECT_EQ(last.text, "bytes 510 to 631 of 632 of snapshot 7");
  EXPECT_NE(last.completed, "") << "a READ goes on where windows ended";
}

TEST_F(StreamFollowerTest, NarrowWindows) {
  Read(0, 32);
  EXPECT_EQ(Windows(0, 2, 32).text, "bytes 32 to 63 of 632 of snapshot 7");
}

TEST_F(StreamFollowerTest, AGapIsNeverComplete) {
  Read(0);
  Windows(0, 1);
  Read(510);
  EXPECT_EQ(Windows(510, 1).completed, "");
}

TEST_F(StreamFollowerTest, ADamagedStreamIsSaidToBe) {
  Read(0);
  Bytes damaged = stream_;
  damaged[300] ^= 1;
  follower_.Window(0, ByteSpan(damaged).first(255));
  follower_.Window(1, ByteSpan(damaged).subspan(255, 255));
  EXPECT_EQ(follower_.Window(2, ByteSpan(damaged).subspan(510)).completed, "632 bytes complete, but stream: wrong CRC");
}

TEST_F(StreamFollowerTest, WithoutAnOpenStreamThereAreJustBytes) {
  EXPECT_EQ(follower_.Window(3, Bytes(5)).text, "5 bytes");
  EXPECT_EQ(follower_.Window(3, {}).text, "nothing there");
  Read(0);
  follower_.Failed();
  EXPECT_EQ(follower_.Window(3, Bytes(5)).text, "5 bytes");
  Read(0);
}

TEST_F(StreamFollowerTest, WhatIsKeptIsBounded) {
  budget_.bytes_left = 300;
  Read(0);
  EXPECT_EQ(Windows(0, 3).completed, "");
  EXPECT_EQ(budget_.bytes_left, 45u);
  Read(0);
  EXPECT_EQ(budget_.bytes_left, 300u);
}

}  // namespace
}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/frame_guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "daemon/listen/fake_frames.h"

namespace sideband::daemon {
namespace {

using Breach = FrameGuard::Breach;

std::string Request(uint32_t stream) { return Frame(50, kHeaders, kEndHeaders | kEndStream, stream); }

class FrameGuardTest : public testing::Test {
 protected:
  // A guard that has seen the preface and both SETTINGS.
  FrameGuard Settled(const FrameGuard::Limits& limits = {}) {
    FrameGuard guard(limits, clock_);
    guard.FromServer(Frame(0, kSettings));
    EXPECT_EQ(guard.FromClient(kPreface + Frame(0, kSettings) + Frame(0, kSettings, kAck)), Breach::kNone);
    return guard;
  }
  // The number of strings make(0), make(1), … that are accepted before the first breach, which must be `expected`; at
  // most 100,000.
  size_t CountUntil(Breach expected, const std::function<std::string(uint32_t)>& make) {
    FrameGuard guard = Settled();
    for (uint32_t i = 0; i < 100'000; ++i) {
      const Breach breach = guard.FromClient(make(i));
      if (breach == Breach::kNone) continue;
      EXPECT_EQ(BreachName(breach), std::string(BreachName(expected)));
      return i;
    }
    return 100'000;
  }

  FakeClock clock_{absl::FromUnixSeconds(1'800'000'000)};
};

TEST_F(FrameGuardTest, TheBeginningMustBeThePreface) {
  FrameGuard whole({}, clock_), wrong({}, clock_);
  EXPECT_EQ(whole.FromClient(std::string(kPreface).substr(0, 23)), Breach::kNone);
  EXPECT_EQ(whole.held(), 23u);
  EXPECT_EQ(whole.FromClient("\n"), Breach::kNone);
  EXPECT_EQ(whole.held(), 0u);
  EXPECT_EQ(wrong.FromClient("GET / HTTP/1.1\r\n"), Breach::kPreface);
  EXPECT_EQ(wrong.FromClient(kPreface), Breach::kPreface) << "a breach stays";
}

TEST_F(FrameGuardTest, AGoodClientIsNotNoticed) {
  FrameGuard guard = Settled();
  for (uint32_t stream = 1; stream < 20'001; stream += 2) {
    ASSERT_EQ(guard.FromClient(Frame(200, kHeaders, kEndHeaders, stream) + Frame(20, kData, kEndStream, stream) +
                               Frame(4, kWindowUpdate, 0, stream)),
              Breach::kNone);
    EXPECT_EQ(guard.open_streams(), 1u);
    guard.FromServer(Frame(30, kHeaders, kEndHeaders, stream) + Frame(9000, kData, 0, stream) +
                     Frame(20, kHeaders, kEndHeaders | kEndStream, stream));
    ASSERT_EQ(guard.FromClient(Frame(4, kWindowUpdate) + Frame(8, kPing)), Breach::kNone);
    EXPECT_EQ(guard.open_streams(), 0u);
    EXPECT_EQ(guard.held(), 0u);
  }
  EXPECT_EQ(guard.TakeWork().streams, 10'000u);
  EXPECT_EQ(guard.TakeWork().streams, 0u);
}

// Fed byte by byte, as by a slow client: the block is released whole.
TEST_F(FrameGuardTest, ABlockIsHeldUntilItIsWhole) {
  FrameGuard guard = Settled();
  const std::string block = Frame(100, kHeaders, 0, 1) + Frame(50, kContinuation, kEndHeaders, 1);
  for (size_t i = 0; i < block.size(); ++i) {
    ASSERT_EQ(guard.FromClient(block.substr(i, 1)), Breach::kNone);
    ASSERT_EQ(guard.held(), i + 1 < block.size() ? i + 1 : 0);
  }
  EXPECT_EQ(guard.FromClient(Frame(100, kData, 0, 1).substr(0, 20)), Breach::kNone);
  EXPECT_EQ(guard.held(), 0u) << "DATA passes as it comes";
  EXPECT_EQ(guard.FromClient(std::string(89, 'x') + Header(5, kData, 0, 1).substr(0, 3)), Breach::kNone);
  EXPECT_EQ(guard.held(), 3u);
}

TEST_F(FrameGuardTest, HeaderBytesOfABlock) {
  EXPECT_EQ(Settled().FromClient(Frame(16 << 10, kHeaders, kEndHeaders, 1)), Breach::kNone);
  EXPECT_EQ(Settled().FromClient(Header((16 << 10) + 1, kHeaders, kEndHeaders, 1)), Breach::kHeaderBytes);
  const std::string half = Frame(8 << 10, kHeaders, 0, 1);
  EXPECT_EQ(Settled().FromClient(half + Frame(8 << 10, kContinuation, kEndHeaders, 1)), Breach::kNone);
  EXPECT_EQ(Settled().FromClient(half + Header((8 << 10) + 1, kContinuation, kEndHeaders, 1)), Breach::kHeaderBytes);
}

TEST_F(FrameGuardTest, HeaderBytesBeforeTheSettingsAreAcknowledged) {
  FrameGuard guard({}, clock_);
  guard.FromServer(Frame(0, kSettings));
  EXPECT_EQ(guard.FromClient(kPreface + Frame(0, kSettings)), Breach::kNone);
  EXPECT_EQ(guard.FromClient(Frame(10 << 10, kHeaders, kEndHeaders, 1)), Breach::kNone);
  EXPECT_EQ(guard.FromClient(Frame(6 << 10, kHeaders, kEndHeaders, 3)), Breach::kNone);
  EXPECT_EQ(guard.FromClient(Frame(1, kHeaders, kEndHeaders, 5)), Breach::kEarlyHeaderBytes);
}

TEST_F(FrameGuardTest, ContinuationsOfABlock) {
  EXPECT_EQ(CountUntil(Breach::kContinuations,
                       [](uint32_t i) { return i == 0 ? Frame(1, kHeaders, 0, 1) : Frame(1, kContinuation, 0, 1); }),
            5u);
}

TEST_F(FrameGuardTest, StreamsAtATime) {
  EXPECT_EQ(CountUntil(Breach::kStreams, [](uint32_t i) { return Request(2 * i + 1); }), 128u);
}

// gRPC reports no call before its request is complete.
TEST_F(FrameGuardTest, ARequestMustBeCompleteInTime) {
  FrameGuard guard = Settled();
  EXPECT_EQ(guard.FromClient(Request(1) + Frame(50, kHeaders, kEndHeaders, 3)), Breach::kNone);
  clock_.Advance(absl::Seconds(10));
  EXPECT_EQ(guard.CheckRequests(), Breach::kNone);
  EXPECT_EQ(guard.FromClient(Frame(50, kHeaders, kEndHeaders, 5) + Frame(0, kData, kEndStream, 3)), Breach::kNone);
  clock_.Advance(absl::Seconds(10));
  EXPECT_EQ(guard.CheckRequests(), Breach::kNone) << "whole requests may wait for their answers";
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(guard.CheckRequests(), Breach::kRequestTimeout);
  EXPECT_EQ(guard.FromClient(Request(7)), Breach::kRequestTimeout) << "a breach stays";
}

TEST_F(FrameGuardTest, AnAnnouncedEndIsNone) {
  for (const std::string& half :
       {Frame(50, kHeaders, kEndHeaders, 1) + Header(100, kData, kEndStream, 1), Frame(50, kHeaders, kEndStream, 1),
        Header(50, kHeaders, kEndHeaders | kEndStream, 1)}) {
    FrameGuard guard = Settled();
    EXPECT_EQ(guard.FromClient(half), Breach::kNone);
    clock_.Advance(absl::Seconds(10) + absl::Milliseconds(1));
    EXPECT_EQ(guard.CheckRequests(), Breach::kRequestTimeout);
  }
}

TEST_F(FrameGuardTest, RapidResets) {
  EXPECT_EQ(CountUntil(Breach::kResets, [](uint32_t i) { return Request(2 * i + 1) + Frame(4, kReset, 0, 2 * i + 1); }),
            100u);
}

TEST_F(FrameGuardTest, ResetsOfWhatTheServerHasEndedAreFree) {
  FrameGuard guard = Settled();
  for (uint32_t stream = 1; stream < 10'001; stream += 2) {
    ASSERT_EQ(guard.FromClient(Frame(50, kHeaders, kEndHeaders, stream)), Breach::kNone);
    guard.FromServer(Frame(20, kHeaders, kEndHeaders | kEndStream, stream));
    ASSERT_EQ(guard.FromClient(Frame(4, kReset, 0, stream)), Breach::kNone);
  }
  EXPECT_EQ(guard.open_streams(), 0u);
}

TEST_F(FrameGuardTest, RatesRefillWithTime) {
  FrameGuard guard = Settled();
  for (int second = 0; second < 100; ++second) {
    for (int i = 0; i < 2; ++i) ASSERT_EQ(guard.FromClient(Frame(8, kPing)), Breach::kNone);
    clock_.Advance(absl::Seconds(1));
  }
}

TEST_F(FrameGuardTest, EachKindHasItsRate) {
  const struct {
    Breach breach;
    std::string frame;
    size_t taken;
  } kCases[] = {
      {Breach::kPings, Frame(8, kPing), 20},
      {Breach::kPings, Frame(8, kPing, kAck), 20},   // acknowledges no ping of the server
      {Breach::kSettings, Frame(6, kSettings), 19},  // one was sent with the preface
      {Breach::kWindowUpdates, Frame(4, kWindowUpdate), 500},
      {Breach::kEmptyData, Frame(0, kData, 0, 1), 100},
      {Breach::kOthers, Frame(5, kPriority, 0, 1), 100},
      {Breach::kOthers, Frame(8, kGoAway), 100},
      {Breach::kOthers, Frame(3, kUnknown), 100},
      {Breach::kOthers, Frame(5, kData, kPadded, 1), 100},
  };
  for (const auto& item : kCases) {
    EXPECT_EQ(CountUntil(item.breach, [&](uint32_t) { return item.frame; }), item.taken) << BreachName(item.breach);
  }
}

TEST_F(FrameGuardTest, TinyAnswersEarnNoWindowUpdates) {
  FrameGuard guard = Settled();
  size_t taken = 0;
  while (taken < 10'000 && guard.FromClient(Frame(4, kWindowUpdate)) == Breach::kNone) {
    guard.FromServer(Frame(63, kData, 0, 1));
    ++taken;
  }
  EXPECT_EQ(taken, 500u);
}

TEST_F(FrameGuardTest, WhatNoClientMaySend) {
  const std::string kCases[] = {
      Frame(1, kContinuation, kEndHeaders, 1),                             // without HEADERS
      Frame(1, kHeaders, 0, 1) + Frame(8, kPing),                          // inside a block
      Frame(1, kHeaders, 0, 1) + Frame(1, kContinuation, kEndHeaders, 3),  // of another stream
      Frame(1, kHeaders, kEndHeaders, 2),                                  // a stream id of the server
      Frame(1, kHeaders, kEndHeaders, 0),
      Frame(4, kPush, 0, 1),
      Frame(7, kPing),
      Frame(9, kPing),
      Frame(8, kPing, 0, 1),
      Frame(5, kReset, 0, 1),
      Frame(4, kReset, 0, 0),
      Frame(5, kSettings),
      Frame(6, kSettings, 0, 1),
      Frame(6, kSettings, kAck),
      Frame(0, kSettings, kAck),  // acknowledges no SETTINGS of the server
      Frame(3, kWindowUpdate),
      Frame(4, kPriority, 0, 1),
      Frame(1, kData, 0, 0),
  };
  for (const std::string& frames : kCases) EXPECT_EQ(Settled().FromClient(frames), Breach::kMalformed);
}

TEST_F(FrameGuardTest, FramesThatAreTooLong) {
  EXPECT_EQ(Settled().FromClient(Header(33 * 6, kSettings)), Breach::kSettings);
  EXPECT_EQ(Settled().FromClient(Header(1025, kGoAway)), Breach::kOthers);
  EXPECT_EQ(Settled().FromClient(Header((1 << 24) - 1, kUnknown)), Breach::kOthers);
  EXPECT_EQ(Settled().FromClient(Header((1 << 24) - 1, kData, 0, 1)), Breach::kNone) << "bounded by flow control";
}

TEST_F(FrameGuardTest, KnowsWhereTheServersFramesEnd) {
  FrameGuard guard = Settled();
  const std::string frames = Frame(10, kData, 0, 1) + Frame(0, kSettings);
  for (size_t i = 0; i < frames.size(); ++i) {
    guard.FromServer(frames.substr(i, 1));
    EXPECT_EQ(guard.is_at_server_boundary(), i == 18 || i == frames.size() - 1) << i;
  }
}

// The division of the bytes into pieces does not matter.
TEST_F(FrameGuardTest, PiecesDoNotMatter) {
  std::string bytes = Request(1) + Frame(100, kHeaders, 0, 3) + Frame(9, kContinuation, kEndHeaders, 3) +
                      Frame(300, kData, kEndStream, 3) + Frame(8, kPing) + Frame(4, kReset, 0, 3) + Request(5);
  for (size_t piece = 1; piece < bytes.size(); ++piece) {
    FrameGuard guard = Settled();
    for (size_t at = 0; at < bytes.size(); at += piece) {
      ASSERT_EQ(guard.FromClient(bytes.substr(at, piece)), Breach::kNone);
    }
    EXPECT_EQ(guard.open_streams(), 2u);
    EXPECT_EQ(guard.last_stream(), 5u);
    EXPECT_EQ(guard.held(), 0u);
  }
}

TEST(GoAwayTest, FramesOfOurOwn) {
  EXPECT_EQ(CalmFrame(3, "why"), Header(11, kGoAway) + std::string("\0\0\0\3\0\0\0\xb", 8) + "why");
  EXPECT_EQ(FarewellFrame(3, ""), Header(8, kGoAway) + std::string("\0\0\0\3\0\0\0\0", 8));
}

}  // namespace
}  // namespace sideband::daemon

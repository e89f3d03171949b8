// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/thread_turn.h"

#include <gtest/gtest.h>

#include <map>

namespace sideband::mcu {
namespace {

using Verdict = ThreadTurn::Verdict;
constexpr uint64_t kTurn = ThreadTurn::kTurnNs;

TEST(ThreadTurnTest, AThreadAloneGoesOnForEver) {
  ThreadTurn turn;
  EXPECT_EQ(turn.Ask(1, 0), Verdict::kBegins);
  for (const uint64_t now : {uint64_t{1}, kTurn - 1, kTurn, 10 * kTurn, 100 * kTurn}) {
    EXPECT_EQ(turn.Ask(1, now), Verdict::kGoesOn);
  }
}

TEST(ThreadTurnTest, AnotherWaitsForTheEndOfTheTurn) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  EXPECT_EQ(turn.Ask(2, kTurn - 1), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(1, kTurn - 1), Verdict::kGoesOn) << "who asks does not disturb";
  EXPECT_EQ(turn.Ask(2, kTurn), Verdict::kBegins);
  EXPECT_EQ(turn.Ask(1, kTurn + 1), Verdict::kWaits);
}

TEST(ThreadTurnTest, ATurnThatIsOverGoesToTheFirstWhoAsks) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  EXPECT_EQ(turn.Ask(2, 5 * kTurn), Verdict::kBegins);
}

TEST(ThreadTurnTest, WhoAskedFirstIsNextAlsoIfOthersAskSooner) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  turn.Ask(2, 5);
  turn.Ask(3, 6);
  EXPECT_EQ(turn.Ask(1, kTurn), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(3, kTurn + 1), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(2, kTurn + 2), Verdict::kBegins);
  EXPECT_EQ(turn.Ask(1, 2 * kTurn + 3), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(3, 2 * kTurn + 4), Verdict::kBegins);
}

TEST(ThreadTurnTest, WhoDoesNotAskInTimeIsPassedOver) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  turn.Ask(2, 5);
  EXPECT_EQ(turn.Ask(1, kTurn), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(1, kTurn + ThreadTurn::kGraceNs - 1), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(1, kTurn + ThreadTurn::kGraceNs), Verdict::kBegins) << "the other has gone away";
}

TEST(ThreadTurnTest, AThreadThatEndsLeavesAtOnce) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  turn.End(2);
  EXPECT_EQ(turn.Ask(2, 1), Verdict::kWaits);
  turn.End(1);
  EXPECT_EQ(turn.Ask(2, 10 * kTurn), Verdict::kBegins);
  turn.Ask(3, 10 * kTurn + 1);
  turn.End(3);
  EXPECT_EQ(turn.Ask(2, 20 * kTurn), Verdict::kGoesOn) << "nobody waits any more";
}

// Beside threads that never pause, one that asks each millisecond begins as many turns as they.
TEST(ThreadTurnTest, FloodsStarveNobody) {
  for (const uint64_t floods : {1, 2, 3, 7}) {
    ThreadTurn turn;
    std::map<uint64_t, int> begun;
    for (uint64_t now = 0; now < 1000 * kTurn; now += kTurn / 100) {
      for (uint64_t thread = 1; thread <= floods; ++thread) {
        if (turn.Ask(thread, now) == Verdict::kBegins) ++begun[thread];
      }
      if (now % kTurn == 0 && turn.Ask(100, now) == Verdict::kBegins) ++begun[100];
    }
    EXPECT_GE(begun[100] + 1, begun[1]) << floods << " floods";
    EXPECT_GT(begun[100], 100) << floods << " floods";
  }
}

}  // namespace
}  // namespace sideband::mcu

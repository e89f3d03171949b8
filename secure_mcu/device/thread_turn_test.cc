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

TEST(ThreadTurnTest, WhoHadAContestedTurnLeavesTimeForOthers) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  turn.Ask(2, 5);
  EXPECT_EQ(turn.Ask(1, kTurn), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(1, 2 * kTurn - 1), Verdict::kWaits);
  EXPECT_EQ(turn.Ask(1, 2 * kTurn), Verdict::kGoesOn) << "the other has gone away";
}

TEST(ThreadTurnTest, AThreadThatEndsLeavesAtOnce) {
  ThreadTurn turn;
  turn.Ask(1, 0);
  turn.End(2);
  EXPECT_EQ(turn.Ask(2, 1), Verdict::kWaits);
  turn.End(1);
  EXPECT_EQ(turn.Ask(2, 2), Verdict::kBegins);
}

// A thread that floods and one that asks each half millisecond have the registers about as long.
TEST(ThreadTurnTest, AFloodStarvesNobody) {
  ThreadTurn turn;
  std::map<uint64_t, int> served;
  for (uint64_t now = 0; now < 100 * kTurn; now += kTurn / 100) {
    if (turn.Ask(1, now) != Verdict::kWaits) ++served[1];
    if (now % (kTurn / 2) == 0 && turn.Ask(2, now) != Verdict::kWaits) ++served[2];
  }
  EXPECT_GT(served[1], 3000);
  EXPECT_GT(served[2], 60);
}

}  // namespace
}  // namespace sideband::mcu

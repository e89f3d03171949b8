// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/rotation_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace sideband::mcu {
namespace {

OwnClock ClockWithAnExit() {
  OwnClock clock;
  clock.Start(1000);
  clock.Stop(1500);
  clock.Resume(1700);
  return clock;
}

TEST(OwnClockTest, CountsTheCyclesInWhichItRuns) {
  const OwnClock clock = ClockWithAnExit();
  EXPECT_EQ(clock.Before(1000), 0);
  EXPECT_EQ(clock.Before(1400), 400);
  EXPECT_EQ(clock.Before(1500), 500);
  EXPECT_EQ(clock.Before(1650), 500);
  EXPECT_EQ(clock.Before(2000), 800);
}

TEST(OwnClockTest, FindsTheFirstCycleOfAnOwnTime) {
  const OwnClock clock = ClockWithAnExit();
  EXPECT_EQ(clock.CycleOf(0), 1000);
  EXPECT_EQ(clock.CycleOf(499), 1499);
  EXPECT_EQ(clock.CycleOf(500), 1500) << "before the exit, not after it";
  EXPECT_EQ(clock.CycleOf(501), 1701);
}

TEST(OwnClockTest, NeverReachesATimeWhileStopped) {
  OwnClock clock;
  EXPECT_EQ(clock.CycleOf(1), OwnClock::kNever);
  clock.Start(10);
  clock.Stop(20);
  EXPECT_EQ(clock.CycleOf(10), 20);
  EXPECT_EQ(clock.CycleOf(11), OwnClock::kNever);
  clock.Start(30);
  EXPECT_EQ(clock.CycleOf(OwnClock::kNever), OwnClock::kNever);
}

TEST(OwnClockTest, IgnoresAChangeToTheSameState) {
  OwnClock clock = ClockWithAnExit();
  clock.Resume(1900);
  EXPECT_EQ(clock.Before(2000), 800);
}

TEST(OwnClockTest, ForgetsOnlyThePast) {
  OwnClock clock = ClockWithAnExit();
  clock.Forget(1600);
  EXPECT_EQ(clock.Before(1600), 500);
  EXPECT_EQ(clock.CycleOf(600), 1800);
  EXPECT_EQ(clock.changes(), 2) << "the exit that it is in, and the entry after it";
}

TEST(OwnClockTest, StandsStillAfterTheEnd) {
  OwnClock clock = ClockWithAnExit();
  clock.End();
  clock.Resume(3000);
  EXPECT_FALSE(clock.runs());
  EXPECT_EQ(clock.Before(4000), 0);
}

std::vector<size_t> Sets(RotationOrder& order, uint64_t residency, uint64_t begin, uint64_t end) {
  std::vector<size_t> sets;
  for (uint64_t position = begin; position < end; ++position) sets.push_back(order.SetAt(residency, position));
  return sets;
}

// From a Python script with the definition of the header.
TEST(RotationOrderTest, FollowsTheDefinition) {
  RotationOrder order(SeedOf(42), {.uuid = {}, .vm = 1, .context = 0, .generation = 1}, 5);
  EXPECT_EQ(Sets(order, 0, 0, 12), (std::vector<size_t>{4, 3, 1, 0, 2, 4, 1, 3, 2, 0, 4, 1}));
  EXPECT_EQ(Sets(order, 7, 0, 12), (std::vector<size_t>{2, 1, 4, 3, 0, 2, 4, 1, 0, 3, 2, 4}));
  RotationIdentity other{.uuid = {}, .vm = 3, .context = 0xFFFF, .generation = 9, .life = 0x01020304, .channel = 5};
  for (uint8_t i = 0; i < 16; ++i) other.uuid.bytes[i] = i;
  RotationOrder many(SeedOf(0x1122334455667788), other, 64);
  EXPECT_EQ(Sets(many, 130, 60, 70), (std::vector<size_t>{2, 23, 11, 13, 20, 26, 58, 52, 12, 10}));
}

TEST(RotationOrderTest, PermutesRoundsByTheDefinition) {
  const RotationOrder order(SeedOf(42), {.uuid = {}, .vm = 1, .context = 0, .generation = 1}, 4);
  const std::vector<uint32_t> turns = {3, 1, 2, 1};
  EXPECT_EQ(order.RoundOf(7, 9, turns), (std::vector<uint8_t>{0, 0, 2, 0, 1, 3, 2}));
  const std::vector<uint8_t> many = order.RoundOf(0xFFFF'FFFF, 0, std::vector<uint32_t>{190, 2});
  EXPECT_EQ(many.size(), 192);
  EXPECT_EQ(std::ranges::find(many, 1) - many.begin(), 37);
  EXPECT_NE(order.RoundOf(7, 10, turns), order.RoundOf(7, 9, turns));
}

// Law 8.
TEST(RotationOrderTest, GivesEachSetEachPositionOnceInAsManyResidencies) {
  for (const size_t sets : {1, 2, 3, 7, 64}) {
    RotationOrder order(SeedOf(sets), {.vm = 2}, sets);
    for (const uint64_t position : {uint64_t{0}, uint64_t{5}, uint64_t{63}, uint64_t{100'000}}) {
      std::set<size_t> seen;
      for (uint64_t residency = 3 * sets; residency < 4 * sets; ++residency) {
        seen.insert(order.SetAt(residency, position));
      }
      EXPECT_EQ(seen.size(), sets) << sets << " sets, position " << position;
    }
  }
}

TEST(RotationOrderTest, GivesEachSetATurnInEachRound) {
  RotationOrder order(SeedOf(9), {.vm = 1}, 6);
  for (uint64_t round = 0; round < 40; ++round) {
    const std::vector<size_t> sets = Sets(order, 11, round * 6, round * 6 + 6);
    EXPECT_EQ(std::set<size_t>(sets.begin(), sets.end()).size(), 6);
  }
}

TEST(RotationOrderTest, IsAnotherForEverybody) {
  const RotationIdentity one{.vm = 1, .context = 0, .generation = 1};
  RotationOrder order(SeedOf(1), one, 32);
  const std::vector<size_t> sets = Sets(order, 0, 0, 32);
  for (const RotationIdentity& who : {RotationIdentity{.vm = 2, .context = 0, .generation = 1},
                                      RotationIdentity{.vm = 1, .context = 1, .generation = 1},
                                      RotationIdentity{.vm = 1, .context = 0, .generation = 2},
                                      RotationIdentity{.vm = 1, .context = 0, .generation = 1, .life = 1},
                                      RotationIdentity{.vm = 1, .context = 0, .generation = 1, .channel = 1}}) {
    RotationOrder other(SeedOf(1), who, 32);
    EXPECT_NE(Sets(other, 0, 0, 32), sets);
  }
  RotationOrder other_seed(SeedOf(2), one, 32);
  EXPECT_NE(Sets(other_seed, 0, 0, 32), sets);
}

TEST(RotationOrderTest, FavoursNoOrder) {
  // How often each of 4 sets follows each within a round.
  std::vector<int> follows(16);
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    RotationOrder order(SeedOf(seed), {.vm = 1}, 4);
    const std::vector<size_t> sets = Sets(order, 0, 0, 4);
    for (size_t i = 1; i < 4; ++i) ++follows[sets[i - 1] * 4 + sets[i]];
  }
  for (size_t i = 0; i < 16; ++i) {
    if (i % 5 == 0) {
      EXPECT_EQ(follows[i], 0);
    } else {
      EXPECT_NEAR(follows[i], 1000, 120) << i;  // four standard deviations of the draws
    }
  }
}

TEST(RotationSeedTest, IsDrawnAnew) { EXPECT_NE(DrawSeed(), DrawSeed()); }

}  // namespace

}  // namespace sideband::mcu

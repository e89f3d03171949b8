// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_passes.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

constexpr BlockId kBlock = 5;
constexpr size_t kSets = 5;
const OwnPeriods kPeriods = {{10, RotationClass::kStable}};

mailbox::RotationSettings PassesOfTwo() {
  mailbox::RotationSettings settings;
  settings.profile = mailbox::RotationProfile::kTwoSet;
  settings.sets_per_pass = 2;
  return settings;
}

class RotationPassesTest : public ::testing::Test {
 protected:
  TurnScope Begin(uint32_t generation, uint8_t channel = 0) {
    return passes_.ScopeOf({kBlock, {.uuid = uuid_, .vm = 1, .context = 0, .generation = generation}}, channel, plan_,
                           kSets, settings_);
  }

  RotationPasses passes_;
  mailbox::RotationSettings settings_ = PassesOfTwo();
  uint16_t plan_ = 0;
  Uuid uuid_{};
};

TEST_F(RotationPassesTest, CountsPassAfterPassBehindAFirstRun) {
  const TurnScope first = Begin(1);
  EXPECT_TRUE(first.is_first_run);
  EXPECT_EQ(first.sets, 1);
  passes_.Keep(kBlock, 0, 1, kPeriods);
  for (const auto& [generation, begin, sets] : {std::tuple(2, 1, 2), {3, 3, 2}, {4, 0, 1}, {5, 1, 2}}) {
    const TurnScope scope = Begin(generation);
    EXPECT_FALSE(scope.is_first_run);
    EXPECT_EQ(scope.first, begin);
    EXPECT_EQ(scope.sets, sets);
    EXPECT_EQ(scope.learnt, kPeriods);
    passes_.Keep(kBlock, 0, generation, {});  // holds no longer than its generation
  }
}

TEST_F(RotationPassesTest, GivesAGenerationTheSameSetsEverywhere) {
  EXPECT_TRUE(Begin(1, 0).is_first_run);
  EXPECT_TRUE(Begin(1, 1).is_first_run);
  passes_.Keep(kBlock, 0, 1, kPeriods);
  EXPECT_EQ(Begin(2, 0).learnt, kPeriods);
  EXPECT_EQ(Begin(2, 1).sets, 2);
  EXPECT_TRUE(Begin(2, 1).learnt.empty());
  passes_.Keep(kBlock, 1, 1, kPeriods);
  EXPECT_EQ(Begin(3, 1).learnt, kPeriods);
}

TEST_F(RotationPassesTest, TakesThePassThatWasAsked) {
  passes_.ChooseNext(kBlock, 2);
  const TurnScope scope = Begin(1);
  EXPECT_FALSE(scope.is_first_run);
  EXPECT_EQ(scope.first, 0);
  EXPECT_EQ(scope.sets, 1);
  EXPECT_EQ(Begin(2).first, 1);
}

TEST_F(RotationPassesTest, LearnsAgain) {
  Begin(1);
  passes_.Learn(kBlock);  // already does
  passes_.Keep(kBlock, 0, 1, kPeriods);
  EXPECT_EQ(Begin(2).first, 1);
  passes_.Learn(kBlock);
  EXPECT_TRUE(Begin(3).is_first_run);
  passes_.Keep(kBlock, 0, 3, {});
  const TurnScope scope = Begin(4);
  EXPECT_EQ(scope.first, 3);
  EXPECT_TRUE(scope.learnt.empty());
}

TEST_F(RotationPassesTest, LearnsAFastRunFromItsBegin) {
  settings_ = {};
  EXPECT_EQ(Begin(1).sets, kSets);
  passes_.Learn(kBlock);
  passes_.Keep(kBlock, 0, 1, kPeriods);
  EXPECT_EQ(Begin(2).learnt, kPeriods);
  passes_.Keep(kBlock, 0, 2, {});
  EXPECT_EQ(Begin(3).learnt, kPeriods);
}

TEST_F(RotationPassesTest, LearnsTheNextFastRunWhereNoneBegan) {
  settings_ = {};
  passes_.Learn(kBlock);
  Begin(1);
  passes_.Keep(kBlock, 0, 1, kPeriods);
  EXPECT_EQ(Begin(2).learnt, kPeriods);
}

TEST_F(RotationPassesTest, BeginsAnewUnderAnotherPlan) {
  Begin(1);
  Begin(2);
  plan_ = 7;
  EXPECT_TRUE(Begin(2).is_first_run);
  EXPECT_EQ(Begin(3).first, 1);
}

TEST_F(RotationPassesTest, TellsAnotherVmNothing) {
  Begin(1);
  passes_.Keep(kBlock, 0, 1, kPeriods);
  EXPECT_EQ(Begin(2).learnt, kPeriods);
  uuid_.bytes[3] = 1;
  EXPECT_TRUE(Begin(3).is_first_run);
  EXPECT_TRUE(Begin(4).learnt.empty());
}

}  // namespace
}  // namespace sideband::mcu

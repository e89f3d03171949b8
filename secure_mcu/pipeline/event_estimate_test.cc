// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/event_estimate.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

TEST(EventEstimateTest, ScalesAnEpochByItsShare) {
  EventEstimate estimate;
  estimate.AddSlot(120, 1000);
  estimate.Evaluate({.enabled = 4000, .running = 1000, .slots = 1, .squares = 1e6}, {});
  EXPECT_EQ(estimate.highest(), 480);
  EXPECT_EQ(estimate.counted(), 120);
}

TEST(EventEstimateTest, RoundsDownWhenShownOnly) {
  EventEstimate estimate;
  estimate.AddSlot(1, 3);
  const SlotTimes open{.enabled = 5, .running = 3, .slots = 1, .squares = 9};
  estimate.Evaluate(open, {});
  EXPECT_EQ(estimate.highest(), 1);
  EXPECT_EQ(estimate.Sum(open, {}), 65536 * 5 / 3);
}

TEST(EventEstimateTest, NeverFalls) {
  EventEstimate estimate;
  estimate.AddSlot(100, 10);
  estimate.Evaluate({.enabled = 20, .running = 10, .slots = 1, .squares = 100}, {});
  estimate.AddSlot(0, 10);
  estimate.Evaluate({.enabled = 30, .running = 20, .slots = 2, .squares = 200}, {});
  EXPECT_EQ(estimate.highest(), 200) << "the second ratio alone would say 150";
}

TEST(EventEstimateTest, DoesNotRevalueAClosedEpoch) {
  EventEstimate estimate;
  estimate.AddSlot(100, 10);
  estimate.Close({.enabled = 20, .running = 10, .slots = 1, .squares = 100}, {});
  estimate.AddSlot(0, 10);
  estimate.Evaluate({.enabled = 100, .running = 10, .slots = 1, .squares = 100}, {.running = 10});
  EXPECT_EQ(estimate.highest(), 200);
  EXPECT_EQ(estimate.counted(), 100);
}

TEST(EventEstimateTest, GoesOnByTheRatioSoFarBeforeItsFirstSlotOfAnEpoch) {
  EventEstimate estimate;
  estimate.AddSlot(100, 10);
  estimate.Close({.enabled = 20, .running = 10, .slots = 1, .squares = 100}, {});
  estimate.Evaluate({.enabled = 7}, {.running = 10});
  EXPECT_EQ(estimate.highest(), 270);
}

TEST(EventEstimateTest, IsZeroWithoutAnySlot) {
  EventEstimate estimate;
  estimate.Evaluate({.enabled = 7}, {});
  EXPECT_EQ(estimate.highest(), 0);
  EXPECT_LT(estimate.Variance({.enabled = 7}), 0);
}

TEST(EventEstimateTest, KnowsLargeCounts) {
  EventEstimate estimate;
  const uint64_t count = uint64_t{1} << 45, cycles = uint64_t{1} << 46;
  estimate.AddSlot(count, cycles);
  estimate.Evaluate({.enabled = 4 * cycles, .running = cycles, .slots = 1, .squares = 0}, {});
  EXPECT_EQ(estimate.highest(), 4 * count);
}

TEST(EventEstimateTest, KnowsProductsOf128Bits) {
  constexpr uint64_t kAll = ~uint64_t{0};
  EventEstimate estimate;
  estimate.AddSlot(kAll / 4, kAll / 2);
  const SlotTimes half{.enabled = kAll - 1, .running = kAll / 2, .slots = 1, .squares = 0};
  estimate.Evaluate(half, {});
  EXPECT_EQ(estimate.highest(), kAll / 4 * 2) << "count and enabled have 126 bits together";
  estimate.Close(half, {});
  EXPECT_EQ(estimate.Sum({}, {}) >> 16, kAll / 4 * 2);
}

TEST(EventEstimateTest, IsAtMostWhatIsShown) {
  constexpr uint64_t kAll = ~uint64_t{0};
  EventEstimate estimate;
  const SlotTimes most{.enabled = kAll, .running = 1, .slots = 1, .squares = 1};
  for (const uint64_t closed : {0, 1, 2}) {
    estimate.AddSlot(kAll / 4, 1);
    estimate.Evaluate(most, {.running = closed});
    EXPECT_EQ(estimate.highest(), kAll);
    estimate.Close(most, {.running = closed});
  }
}

// V = (E/r)^2 m s^2 (1 - r/E), by hand: counts 10 and 20 in slots of 100, E = 400, r = 200; the mean rate is 0.15, the
// residuals are -5 and 5, s^2 = 50; V = 4 * 2 * 50 * 0.5 = 200, times the square of 12.706 / 1.96.
TEST(EventEstimateTest, HasTheVarianceOfItsSlots) {
  EventEstimate estimate;
  estimate.AddSlot(10, 100);
  estimate.AddSlot(20, 100);
  const SlotTimes open{.enabled = 400, .running = 200, .slots = 2, .squares = 20000};
  EXPECT_NEAR(estimate.Variance(open), 200 * 42.0247, 0.1);
  estimate.Close(open, {});
  EXPECT_NEAR(estimate.Variance({}), 200 * 42.0247, 0.1) << "an epoch without slots adds nothing";
}

TEST(EventEstimateTest, IsExactWhereEveryCycleIsCounted) {
  EventEstimate estimate;
  estimate.AddSlot(10, 100);
  estimate.AddSlot(90, 100);
  const SlotTimes all{.enabled = 200, .running = 200, .slots = 2, .squares = 20000};
  estimate.Evaluate(all, {});
  EXPECT_EQ(estimate.highest(), 100);
  EXPECT_EQ(estimate.Variance(all), 0);
}

TEST(StudentFactorTest, FallsToOne) {
  EXPECT_NEAR(StudentFactor(1), 6.483, 0.001);
  EXPECT_NEAR(StudentFactor(30), 1.042, 0.001);
  EXPECT_EQ(StudentFactor(31), 1);
  for (uint64_t degrees = 1; degrees < 40; ++degrees) EXPECT_GE(StudentFactor(degrees), StudentFactor(degrees + 1));
}

}  // namespace
}  // namespace sideband::mcu

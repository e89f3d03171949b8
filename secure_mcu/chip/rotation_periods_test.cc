// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_periods.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

constexpr auto kStable = RotationClass::kStable;
constexpr auto kFluctuating = RotationClass::kFluctuating;

// Instructions per 1000 cycles.
std::vector<IndicatorSample> Values(std::initializer_list<uint64_t> values) {
  std::vector<IndicatorSample> run;
  for (const uint64_t value : values) run.push_back({value, 1000});
  return run;
}

using Periods = std::vector<RotationPeriod>;

TEST(RotationPeriodsTest, NeighbouringWindowsShareAValue) {
  // Windows of step 2: {100,100,100} {100,200,100} {100,100,100}.
  EXPECT_EQ(ClassifyRun(Values({100, 100, 100, 200, 100, 100, 100}), {.step = 2}),
            (Periods{{0, 2, kStable}, {2, 4, kFluctuating}, {4, 7, kStable}}));
  // The value at 2 ends the first window and begins the second.
  EXPECT_EQ(ClassifyRun(Values({100, 100, 200, 100, 100, 100, 100}), {.step = 2}),
            (Periods{{0, 4, kFluctuating}, {4, 7, kStable}}));
}

TEST(RotationPeriodsTest, WindowsOfOneClassMakeOnePeriod) {
  EXPECT_EQ(ClassifyRun(Values({1, 9, 1, 9, 1, 9, 1, 9, 1}), {}), (Periods{{0, 9, kFluctuating}}));
  EXPECT_EQ(ClassifyRun(Values({500, 501, 502, 500, 499, 498, 500, 500, 500}), {}), (Periods{{0, 9, kStable}}));
}

TEST(RotationPeriodsTest, TheRestHasTheClassOfTheLastWindow) {
  // The wild values at 5 to 7 are behind the only whole window.
  EXPECT_EQ(ClassifyRun(Values({100, 100, 100, 100, 100, 1, 900, 1}), {}), (Periods{{0, 8, kStable}}));
  // From 9 values on there is a second window.
  EXPECT_EQ(ClassifyRun(Values({100, 100, 100, 100, 100, 1, 900, 1, 900}), {}),
            (Periods{{0, 4, kStable}, {4, 9, kFluctuating}}));
}

TEST(RotationPeriodsTest, WithoutInstructionsItIsStable) {
  EXPECT_EQ(ClassifyRun(Values({0, 0, 0, 0, 0, 0}), {}), (Periods{{0, 6, kStable}}));
  const std::vector<IndicatorSample> no_cycles(6);
  EXPECT_EQ(ClassifyRun(no_cycles, {}), (Periods{{0, 6, kStable}}));
  EXPECT_EQ(ClassifyRun(Values({0, 0, 0, 0, 10}), {}), (Periods{{0, 5, kFluctuating}}));
}

TEST(RotationPeriodsTest, ShortRuns) {
  EXPECT_EQ(ClassifyRun({}, {}), Periods{});
  EXPECT_EQ(ClassifyRun(Values({100}), {}), (Periods{{0, 1, kStable}}));
  EXPECT_EQ(ClassifyRun(Values({100, 200}), {}), (Periods{{0, 2, kFluctuating}}));
  EXPECT_EQ(ClassifyRun(Values({100, 101}), {.step = 100}), (Periods{{0, 2, kStable}}));
  EXPECT_EQ(ClassifyRun(Values({100, 101}), {.step = SIZE_MAX}), (Periods{{0, 2, kStable}}));
  EXPECT_EQ(ClassifyRun(Values({100, 100, 200}), {.step = 0}), (Periods{{0, 1, kStable}, {1, 3, kFluctuating}}));
}

TEST(RotationPeriodsTest, TheThresholdItselfIsStable) {
  // Exact binary fractions: the mean is 1, the values differ by 0.25.
  const std::vector<IndicatorSample> run = {{9, 8}, {7, 8}};
  EXPECT_EQ(ClassOfWindow(run, 250), kStable);
  EXPECT_EQ(ClassOfWindow(run, 249), kFluctuating);
}

TEST(RotationPeriodsTest, LargeCountsDoNotOverflow) {
  const std::vector<IndicatorSample> run = {{UINT64_MAX, 1}, {UINT64_MAX, UINT64_MAX}};
  EXPECT_EQ(ClassOfWindow(run, 1999), kFluctuating);
  EXPECT_EQ(ClassOfWindow(run, UINT32_MAX), kStable);
}

TEST(RotationPeriodsTest, ClassOfAnInterval) {
  const Periods periods = {{0, 4, kStable}, {4, 9, kFluctuating}};
  EXPECT_EQ(ClassOf(periods, 3), kStable);
  EXPECT_EQ(ClassOf(periods, 4), kFluctuating);
  EXPECT_EQ(ClassOf(periods, 1000), kFluctuating);
  EXPECT_EQ(ClassOf({}, 0), kStable);
}

TEST(RotationPeriodsTest, OnlineASlotHasTheClassOfTheWindowBefore) {
  OnlineRotationClass online({.step = 2});
  EXPECT_EQ(online.Next(), kStable);
  std::vector<RotationClass> classes;
  for (const IndicatorSample& sample : Values({100, 100, 200, 200, 200, 100})) {
    online.Add(sample);
    classes.push_back(online.Next());
  }
  EXPECT_EQ(classes, (std::vector{kStable, kStable, kFluctuating, kFluctuating, kStable, kFluctuating}));
}

}  // namespace
}  // namespace sideband::mcu

// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/turn_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "rapidcheck/gtest.h"

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

constexpr uint64_t kShort = 100, kLong = 200;
constexpr RotationIdentity kWho{.uuid = {}, .vm = 1, .context = 0, .generation = 1};

mailbox::RotationSettings Fast() {
  mailbox::RotationSettings settings;
  settings.stable_slot = kLong, settings.fluctuating_slot = kShort, settings.interval = kShort, settings.step = 2;
  return settings;
}

// The reference text's, in units of 0.1 s.
mailbox::RotationSettings TwoSet() {
  mailbox::RotationSettings settings;
  settings.profile = mailbox::RotationProfile::kTwoSet;
  settings.stable_slot = 80, settings.fluctuating_slot = 40, settings.interval = 5, settings.sets_per_pass = 2;
  return settings;
}

RotationOrder OrderOf(size_t sets) { return {SeedOf(7), kWho, sets}; }

TurnPolicy PolicyOf(const mailbox::RotationSettings& settings, TurnScope scope, bool has_instructions = true) {
  const size_t sets = scope.sets;
  return {settings, has_instructions, OrderOf(sets), std::move(scope)};
}

// Ends the slot whole.
void Play(TurnPolicy& policy, uint64_t per_mille = 500) {
  const uint64_t own = policy.slot_cycles();
  policy.EndSlot(own, {.instructions = own * per_mille, .cycles = own * 1000});
  policy.BeginSlot();
}

// --- Shares ---------------------------------------------------------------------------------------------------------

using Shares = std::vector<uint32_t>;
using Needs = std::vector<double>;

TEST(SharesOfTest, IsNeymansByHand) {
  // 12 turns: 6, 3, 1.5, 1.5; of equal remainders the first counts more.
  EXPECT_EQ(SharesOf(Needs{8, 4, 2, 2}), (Shares{6, 3, 2, 1}));
  // 9 turns: 6.75, 1.125, 1.125.
  EXPECT_EQ(SharesOf(Needs{6, 1, 1}), (Shares{7, 1, 1}));
  // 6 turns in the ratio of 2 to 1 are 2 and 1 turns.
  EXPECT_EQ(SharesOf(Needs{2, 1}), (Shares{2, 1}));
}

TEST(SharesOfTest, LeavesEachSetATurn) {
  EXPECT_EQ(SharesOf(Needs{1000, 1, 0}), (Shares{7, 1, 1}));
  EXPECT_EQ(SharesOf(Needs{0, 0, 5, 5}), (Shares{1, 1, 5, 5}));
}

TEST(SharesOfTest, IsEqualWithoutAReason) {
  EXPECT_EQ(SharesOf(Needs{0, 0, 0}), (Shares{1, 1, 1}));
  EXPECT_EQ(SharesOf(Needs{3, 3, 3}), (Shares{1, 1, 1}));
  // 2 · (1.4 + 1)² / (2 · (1.4² + 1)) / 2 = 0.97 of the variance with equal turns would be left.
  EXPECT_EQ(SharesOf(Needs{1.4, 1}), (Shares{1, 1}));
  EXPECT_EQ(SharesOf(Needs{9}), (Shares{1}));
}

RC_GTEST_PROP(SharesOfTest, KeepsFloorAndCap, ()) {
  const auto whole = *rc::gen::container<std::vector<uint32_t>>(
      *rc::gen::inRange<size_t>(1, 65), rc::gen::weightedOneOf<uint32_t>({{1, rc::gen::just<uint32_t>(0)},
                                                                          {3, rc::gen::inRange<uint32_t>(0, 1000)},
                                                                          {1, rc::gen::arbitrary<uint32_t>()}}));
  const Shares shares = SharesOf(Needs(whole.begin(), whole.end()));
  RC_ASSERT(shares.size() == whole.size());
  RC_ASSERT(std::ranges::min(shares) >= 1u);
  RC_ASSERT(std::accumulate(shares.begin(), shares.end(), uint64_t{0}) <= kTurnsPerSetMax * shares.size());
  RC_ASSERT(std::accumulate(shares.begin(), shares.end(), uint32_t{0}, std::gcd<uint32_t, uint32_t>) == 1u);
  // A set that needs more has no fewer.
  for (size_t i = 0; i < shares.size(); ++i) {
    for (size_t j = 0; j < shares.size(); ++j) RC_ASSERT(whole[i] <= whole[j] || shares[i] >= shares[j]);
  }
}

// --- Profile `fast` -------------------------------------------------------------------------------------------------

TEST(TurnPolicyTest, FollowsTheLatinSquare) {
  TurnPolicy policy = PolicyOf(Fast(), {.first = 2, .sets = 5});
  RotationOrder order = OrderOf(5);
  for (uint64_t residency = 0; residency < 12; ++residency) {
    policy.BeginResidency();
    for (uint64_t position = 0; position < 17; ++position) {
      EXPECT_EQ(policy.set(), 2 + order.SetAt(residency, position));
      Play(policy);
    }
    policy.EndResidency();
  }
  EXPECT_TRUE(policy.Includes(2) && policy.Includes(6));
  EXPECT_FALSE(policy.Includes(1) || policy.Includes(7));
}

TEST(TurnPolicyTest, PermutesTheMultisetOfARound) {
  TurnPolicy policy = PolicyOf(Fast(), {.sets = 3});
  policy.BeginResidency();
  const Shares shares = SharesOf(Needs{6, 1, 1});
  ASSERT_TRUE(policy.is_round_over());
  policy.Adapt(Needs{6, 1, 1});
  policy.BeginSlot();
  std::set<std::vector<size_t>> rounds;
  for (int round = 0; round < 20; ++round) {
    Shares turns(3);
    std::vector<size_t> sets;
    for (int place = 0; place < 9; ++place) {
      sets.push_back(policy.set());
      ++turns[policy.set()];
      Play(policy);
      EXPECT_EQ(policy.is_round_over(), place == 8);
    }
    EXPECT_EQ(turns, shares);
    rounds.insert(sets);
  }
  EXPECT_GT(rounds.size(), 10u);
  policy.EndResidency();
  policy.Adapt(Needs{1, 1, 1});
  policy.BeginResidency();
  EXPECT_EQ(policy.set(), OrderOf(3).SetAt(1, 0));
}

TEST(TurnPolicyTest, DoesNotAdaptWhereItMustNot) {
  mailbox::RotationSettings equal = Fast();
  equal.adapt = false;
  EXPECT_FALSE(PolicyOf(equal, {.sets = 3}).adapts());
  EXPECT_FALSE(PolicyOf(Fast(), {.sets = 3, .is_confidential = true}).adapts());
  EXPECT_FALSE(PolicyOf(Fast(), {.sets = 1}).adapts());
  EXPECT_FALSE(PolicyOf(TwoSet(), {.sets = 2}).adapts());
  TurnPolicy policy = PolicyOf(equal, {.sets = 3});
  policy.BeginResidency();
  policy.Adapt(Needs{6, 1, 1});
  for (int place = 0; place < 3; ++place) Play(policy);
  EXPECT_TRUE(policy.is_round_over());
}

TEST(TurnPolicyTest, TakesTheClassOfTheWindowBefore) {
  TurnPolicy policy = PolicyOf(Fast(), {.sets = 2});
  policy.BeginResidency();
  // Windows of three looks: the first one is not whole before the third.
  for (const uint64_t per_mille : {500, 500, 500}) {
    EXPECT_EQ(policy.slot_cycles(), kShort);
    Play(policy, per_mille);
  }
  EXPECT_EQ(policy.slot_cycles(), kLong);
  Play(policy, 700);
  for (const uint64_t per_mille : {700, 700}) {
    EXPECT_EQ(policy.slot_cycles(), kShort);
    Play(policy, per_mille);
  }
  EXPECT_EQ(policy.slot_cycles(), kLong);
}

TEST(TurnPolicyTest, HasShortSlotsWhereNothingIsKnown) {
  TurnPolicy confidential = PolicyOf(Fast(), {.sets = 2, .is_confidential = true});
  TurnPolicy blind = PolicyOf(Fast(), {.sets = 2}, /*has_instructions=*/false);
  confidential.BeginResidency();
  blind.BeginResidency();
  for (int slot = 0; slot < 20; ++slot) {
    EXPECT_EQ(confidential.slot_cycles(), kShort);
    EXPECT_EQ(blind.slot_cycles(), kShort);
    Play(confidential);
    Play(blind);
  }
}

TEST(TurnPolicyTest, TakesLearntPeriodsByOwnTime) {
  const OwnPeriods learnt = {{350, RotationClass::kStable}, {600, RotationClass::kFluctuating}};
  TurnPolicy policy = PolicyOf(Fast(), {.sets = 2, .learnt = learnt});
  policy.BeginResidency();
  std::vector<uint64_t> lengths;
  for (int slot = 0; slot < 4; ++slot) {
    lengths.push_back(policy.slot_cycles());
    Play(policy);
  }
  policy.EndResidency();
  policy.BeginResidency();
  lengths.push_back(policy.slot_cycles());
  EXPECT_EQ(lengths, (std::vector<uint64_t>{kLong, kLong, kShort, kShort, kShort}));
}

// --- Profile `two-set` ----------------------------------------------------------------------------------------------

struct SlotStart {
  uint64_t own = 0;
  size_t set = 0;
  bool operator==(const SlotStart&) const = default;
};

std::vector<SlotStart> StartsOf(TurnPolicy& policy, uint64_t end) {
  std::vector<SlotStart> starts;
  uint64_t own = 0;
  policy.BeginResidency();
  while (own < end) {
    starts.push_back({own, policy.set()});
    own += policy.slot_cycles();
    Play(policy);
  }
  return starts;
}

TEST(TwoSetTest, LooksAtOneSetInTheFirstRun) {
  TurnPolicy policy = PolicyOf(TwoSet(), {.is_first_run = true});
  policy.BeginResidency();
  // 20 looks at an even rate, 8 at another in each, 12 even ones: windows have 5 looks, and begin at every fourth.
  for (int look = 0; look < 40; ++look) {
    EXPECT_EQ(policy.set(), 0);
    EXPECT_EQ(policy.slot_cycles(), 5);
    const bool is_even = look < 20 || look >= 28;
    Play(policy, is_even ? 400 : 200 + 50 * (look % 5));
  }
  EXPECT_EQ(
      policy.Learn(),
      (OwnPeriods{{80, RotationClass::kStable}, {140, RotationClass::kFluctuating}, {200, RotationClass::kStable}}));
}

TEST(TwoSetTest, AlternatesWithTheLengthsOfThePeriods) {
  const OwnPeriods learnt = {
      {100, RotationClass::kFluctuating}, {300, RotationClass::kStable}, {380, RotationClass::kFluctuating}};
  TurnPolicy policy = PolicyOf(TwoSet(), {.first = 4, .sets = 2, .learnt = learnt});
  // A slot keeps the length of the period in which it began.
  EXPECT_EQ(StartsOf(policy, 440),
            (std::vector<SlotStart>{{0, 4}, {40, 5}, {80, 4}, {120, 5}, {200, 4}, {280, 5}, {360, 4}, {400, 5}}));
}

TEST(TwoSetTest, GoesOnWithACutTurn) {
  TurnPolicy policy = PolicyOf(TwoSet(), {.sets = 2});
  std::vector<std::pair<size_t, uint64_t>> left;
  for (const uint64_t own : {25, 15, 39, 1, 30}) {
    policy.BeginResidency();
    left.emplace_back(policy.set(), policy.slot_cycles());
    policy.EndSlot(own, {});
    policy.BeginSlot();
    policy.EndResidency();
  }
  EXPECT_EQ(left, (std::vector<std::pair<size_t, uint64_t>>{{0, 40}, {0, 15}, {1, 40}, {1, 1}, {0, 40}}));
}

TEST(TwoSetTest, HasShortSlotsWithoutPeriods) {
  TurnPolicy policy = PolicyOf(TwoSet(), {.sets = 2});
  EXPECT_EQ(StartsOf(policy, 120), (std::vector<SlotStart>{{0, 0}, {40, 1}, {80, 0}}));
}

// --- Own time -------------------------------------------------------------------------------------------------------

TEST(ClassAtTest, EndsPeriodsBeforeTheirEnd) {
  const OwnPeriods periods = {{10, RotationClass::kFluctuating}, {20, RotationClass::kStable}};
  EXPECT_EQ(ClassAt(periods, 9), RotationClass::kFluctuating);
  EXPECT_EQ(ClassAt(periods, 10), RotationClass::kStable);
  EXPECT_EQ(ClassAt(periods, 1000), RotationClass::kStable);
}

RC_GTEST_PROP(RunRecorderTest, ClassifiesLikeAWholeRun, ()) {
  const ClassifierOptions options{.threshold_per_mille = 100, .step = *rc::gen::inRange<size_t>(0, 6)};
  const auto rates = *rc::gen::container<std::vector<uint64_t>>(rc::gen::element<uint64_t>(100, 105, 150));
  RunRecorder recorder(options);
  std::vector<IndicatorSample> run;
  for (const uint64_t rate : rates) {
    run.push_back({.instructions = rate, .cycles = 200});
    recorder.Add(run.back(), 10 * run.size());
  }
  OwnPeriods expected;
  for (const RotationPeriod& period : ClassifyRun(run, options)) expected.push_back({10 * period.end, period.kind});
  RC_ASSERT(recorder.Periods() == expected);
}

TEST(RunRecorderTest, IsBounded) {
  RunRecorder recorder({.step = 1});
  // Two even samples, and two that are not.
  for (uint64_t i = 1; i <= 4 * RunRecorder::kPeriodsMax; ++i) {
    recorder.Add({.instructions = i % 4 < 2 ? 1u : 2u, .cycles = 10}, i);
  }
  EXPECT_EQ(recorder.Periods().size(), RunRecorder::kPeriodsMax);
  EXPECT_EQ(recorder.Periods().back().end, 4 * RunRecorder::kPeriodsMax);
}

}  // namespace

}  // namespace sideband::mcu

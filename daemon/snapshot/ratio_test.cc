// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/ratio.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sideband::daemon {
namespace {

const std::vector<RatioSpec> kSpecs = {{"l2_hit", {"hit"}, {"hit", "miss"}},
                                       {"two_of_three", {"hit", "miss"}, {"busy"}},
                                       {"of_the_device", {"hit"}, {"pcie"}},
                                       {"of_nothing_known", {"hit"}, {"other"}}};

mailbox::Catalog SomeEvents() {
  mailbox::Catalog catalog;
  catalog.events = {{.name = "busy"}, {.name = "hit"}, {.name = "miss"}};
  catalog.events.push_back({.name = "pcie", .scope = mailbox::EventScope::kDevice});
  return catalog;
}

TEST(RatioTest, OnlyWhatEveryRowCountsIsResolved) {
  const auto ratios = ResolveRatios(kSpecs, SomeEvents());
  ASSERT_EQ(ratios.size(), 2u);
  EXPECT_EQ(ratios[0].spec->name, "l2_hit");
  EXPECT_EQ(ratios[0].denominator, (std::vector<size_t>{1, 2}));
  EXPECT_TRUE(ratios[0].IsIn({false, true, true, false}));
  EXPECT_FALSE(ratios[0].IsIn({true, true, false, true})) << "an event of the denominator is not readable";
}

TEST(RatioTest, AMaskedEventMakesNone) {
  mailbox::Catalog catalog = SomeEvents();
  catalog.events[2].masked = true;  // miss
  EXPECT_TRUE(ResolveRatios(kSpecs, catalog).empty());
}

TEST(RatioTest, IsAShareOrUnknown) {
  const auto ratios = ResolveRatios(kSpecs, SomeEvents());
  const auto hit = [&](double hits, double misses) {
    return RatioOf(ratios[0], std::vector<double>{0, hits, misses, 0});
  };
  EXPECT_EQ(hit(3, 1), 0.75);
  EXPECT_EQ(hit(0, 5), 0);
  EXPECT_EQ(hit(5, 0), 1);
  EXPECT_TRUE(std::isnan(hit(0, 0))) << "no access: no share of it";
  EXPECT_TRUE(std::isnan(hit(NAN, 1)));
  EXPECT_TRUE(std::isnan(hit(1, NAN)));
}

// Events are busy, hit, miss.
TEST(RatioTest, ItMayExceedOneIfTheBoundsLetIt) {
  const auto ratios = ResolveRatios(kSpecs, SomeEvents());
  const std::vector<RateBounds> wide = {{10, 10}, {2, 9}, {1, 9}, {0, 0}};
  EXPECT_FALSE(MayExceedOne(ratios[0], wide)) << "hits are a part of hits and misses";
  EXPECT_TRUE(MayExceedOne(ratios[1], wide)) << "9 and 9 of 10";
  EXPECT_FALSE(MayExceedOne(ratios[1], std::vector<RateBounds>{{10, 10}, {2, 4}, {1, 6}, {0, 0}}));
  EXPECT_FALSE(MayExceedOne(ratios[1], std::vector<RateBounds>{{1, 1}, {2, 2}, {1, 1}, {0, 0}})) << "all is exact";
  EXPECT_FALSE(MayExceedOne(ratios[1], {}));
}

TEST(RatioTest, OverOneIsNoShare) {
  const auto ratios = ResolveRatios(kSpecs, SomeEvents());
  bool over = false;
  EXPECT_TRUE(std::isnan(RatioOf(ratios[1], std::vector<double>{3, 2, 2, 0}, &over)));
  EXPECT_TRUE(over);
  EXPECT_EQ(RatioOf(ratios[1], std::vector<double>{4, 2, 2, 0}, &over), 1);
  EXPECT_FALSE(over);
}

// hit and miss are in groups, whose running cycles are events 4 and 5; event 6 is the time of both.
mailbox::Catalog GatedEvents(uint8_t hit, uint8_t miss) {
  mailbox::Catalog catalog = SomeEvents();
  catalog.events[1].details.gate_group = hit;
  catalog.events[2].details.gate_group = miss;
  catalog.events.push_back({.name = "group_a_running_cycles", .details = {.gate_group = 0}});
  catalog.events.push_back({.name = "group_b_running_cycles", .details = {.gate_group = 1}});
  catalog.events.push_back({.name = "resident_cycles"});
  catalog.gate_groups = {{"a", 4}, {"b", 5}};
  return catalog;
}

TEST(RatioTest, EventsOfOneGroupAreOfTheSameCycles) {
  const std::vector<RatioSpec> specs = {kSpecs[0], {"per_running_cycle", {"hit"}, {"group_a_running_cycles"}}};
  const auto ratios = ResolveRatios(specs, GatedEvents(0, 0));
  const std::vector<double> rates = {0, 3, 1, 0, 10, 90, 100};
  EXPECT_EQ(RatioOf(ratios[0], rates), 0.75);
  EXPECT_EQ(RatioOf(ratios[1], rates), 0.3);
}

TEST(RatioTest, EventsOfDifferentCyclesMakeNone) {
  for (const uint8_t miss : {uint8_t{1}, mailbox::kNoGateGroup}) {
    const auto ratios = ResolveRatios(kSpecs, GatedEvents(0, miss));
    const auto hit = [&](double running_a, double running_b) {
      bool is_over_one = true;
      const double value = RatioOf(ratios[0], std::vector<double>{0, 3, 1, 0, running_a, running_b, 100}, &is_over_one);
      EXPECT_FALSE(is_over_one);
      return value;
    };
    EXPECT_EQ(hit(100, 100), 0.75) << "both gates were open all the time";
    EXPECT_TRUE(std::isnan(hit(99, 100)));
    EXPECT_EQ(std::isnan(hit(100, 99)), miss == 1) << "the gate of an event of the ratio";
  }
  mailbox::Catalog unknown = GatedEvents(0, 1);
  unknown.events[6].masked = true;
  EXPECT_TRUE(ResolveRatios({kSpecs[0]}, unknown).empty()) << "nobody knows how long a gate could have been open";
}

TEST(RatioTest, SaysHowItIsMade) {
  EXPECT_EQ(kSpecs[0].Formula(), "hit / (hit + miss)");
  EXPECT_EQ(kSpecs[1].Formula(), "(hit + miss) / busy");
}

}  // namespace
}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/unit_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace sideband::mcu {
namespace {

ChipFile ChipOfUnits(std::vector<UnitFileSpec> units, uint32_t slices = 1) {
  ChipFile file{.path = "chip.yaml"};
  file.pipeline.slices = slices;
  file.units = std::move(units);
  return file;
}

std::vector<std::string> CcuNames(const UnitPlan& plan) {
  std::vector<std::string> names;
  for (const CcuSpec& ccu : plan.ccus) names.push_back(ccu.name);
  return names;
}

TEST(UnitPlanTest, UnitsWithoutANameArePackedAndOthersShare) {
  ChipFile file = ChipOfUnits({{.name = "a", .count = 50, .events = {{.name = "x"}}},
                               {.name = "b", .events = {{.name = "y"}}, .ccu = "m"},
                               {.name = "c", .events = {{.name = "x"}}},
                               {.name = "d", .events = {{.name = "y"}}, .ccu = "m"}});
  file.ccus = {{.name = "m", .threshold = 90'000'000}};
  file.threshold = 50'000'000;
  const auto plan = PlanUnits(file);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(CcuNames(*plan), (std::vector<std::string>{"slice0.ccu0", "slice0.ccu1", "slice0.m"}));
  EXPECT_EQ(plan->ccus[0].ulcs.size(), 48u);
  EXPECT_EQ(plan->ccus[1].ulcs.size(), 3u) << "two of a, and c";
  EXPECT_EQ(plan->ccus[1].ulcs[2].name, "c.0");
  EXPECT_EQ(plan->ccus[2].ulcs[1].name, "d.0");
  EXPECT_EQ(plan->ccus[0].threshold, 50'000'000u);
  EXPECT_EQ(plan->ccus[2].threshold, 90'000'000u);
}

TEST(UnitPlanTest, AThresholdThatWouldBeReachedTooOftenIsRefused) {
  ChipFile file = ChipOfUnits({{.name = "a", .count = 3, .events = {{.name = "x"}}}});
  file.pipeline_line = 7;
  file.threshold = 33'065;
  EXPECT_EQ(
      std::string(PlanUnits(file).status().message()),
      "chip.yaml:7: threshold is 33065, must be 0 or from 33066 to 268435455 (a counter of 'slice0.ccu0' gains up "
      "to 3 a cycle; 100000 triggers a second at 1000000000 Hz)");
  for (const uint32_t threshold : {0u, 33'066u}) {
    file.threshold = threshold;
    EXPECT_TRUE(PlanUnits(file).ok()) << threshold;
  }
}

// Each instance has a unit-level counter for each slice that shares it, on a collection unit of that slice.
TEST(UnitPlanTest, ASharedUnitHasCountersForEachSlice) {
  ChipFile file = ChipOfUnits({{.name = "sm", .events = {{.name = "x"}}, .ccu = "m"}}, 3);
  file.shared_units = {{.name = "l2", .count = 2, .events = {{.name = "hits"}, {.name = "x"}}},
                       {.name = "mc", .events = {{.name = "reads"}}, .ccu = "m", .slices = {0, 2}}};
  file.ccus = {{.name = "m", .threshold = 90'000'000}};
  file.gate_groups = {{.name = "g", .events = {"hits"}}};
  const auto plan = PlanUnits(file);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(CcuNames(*plan),
            (std::vector<std::string>{"slice0.m", "slice0.shared/ccu0", "slice0.shared/m", "slice1.m",
                                      "slice1.shared/ccu0", "slice2.m", "slice2.shared/ccu0", "slice2.shared/m"}));
  const CcuSpec& l2 = plan->ccus[4];
  EXPECT_EQ(l2.channel, 1);
  ASSERT_EQ(l2.ulcs.size(), 2u);
  EXPECT_EQ(l2.ulcs[1].name, "l2.1");
  EXPECT_EQ(l2.ulcs[1].inputs[0].wire, 3u) << "after the wires of the slice's own units, and of l2.0";
  EXPECT_EQ(l2.ulcs[1].inputs[0].group, 0) << "behind the slice's gate";
  EXPECT_EQ(l2.ulcs[1].inputs[1].meaning.event, 0) << "x is one event, whoever counts it";
  EXPECT_EQ(plan->WireEvents(1), (std::vector<std::string>{"x", "hits", "x", "hits", "x"}));
  EXPECT_EQ(plan->ccus[2].threshold, 90'000'000u);
}

TEST(UnitPlanTest, SharedEventsSayThatTheyAre) {
  ChipFile file = ChipOfUnits({{.name = "sm", .events = {{.name = "x"}}}}, 2);
  file.shared_units = {{.name = "l2", .events = {{.name = "l2_hit_cycles"}}}};
  const auto plan = PlanUnits(file);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto& events = plan->events.events();
  EXPECT_EQ(events[0].description, "Number of x.");
  EXPECT_EQ(
      events[1].description,
      "Cycles in which an access to the L2 cache hit. Of a unit that slices share, for the slice of each request.");
  EXPECT_EQ(events[1].scope, mailbox::EventScope::kContext);
}

TEST(UnitPlanTest, AMistakeInASharedUnitHasItsLine) {
  ChipFile file = ChipOfUnits({{.name = "sm", .events = {{.name = "x"}}}}, 2);
  file.shared_units = {{.name = "l2", .count = 3, .events = {{.name = "hits"}}, .ccu = "m", .line = 9}};
  file.ccus = {{.name = "m", .threshold = 1, .line = 12}};
  EXPECT_EQ(std::string(PlanUnits(file).status().message()),
            "chip.yaml:12: threshold is 1, must be 0 or from 33066 to 268435455 (a counter of 'slice0.shared/m' gains "
            "up to 3 a cycle; 100000 triggers a second at 1000000000 Hz)");
  file.ccus.clear();
  file.shared_units[0].count = 49;
  EXPECT_EQ(std::string(PlanUnits(file).status().message()),
            "chip.yaml:9: collection unit 'm' has more than 48 unit-level counters with those of unit 'l2'");
  file.shared_units[0].count = 1;
  file.device_units = {{.name = "pcie", .events = {{.name = "hits", .line = 15}}}};
  EXPECT_EQ(std::string(PlanUnits(file).status().message()),
            "chip.yaml:15: event 'hits' is both of slices and of the whole device");
}

TEST(UnitPlanTest, AUnitIsOnTheSlicesThatItNames) {
  ChipFile file = ChipOfUnits({{.name = "a", .events = {{.name = "x"}}},
                               {.name = "b", .events = {{.name = "y"}}, .ccu = "m", .slices = {0, 2}}},
                              3);
  file.device_units = {{.name = "pcie", .events = {{.name = "tx"}}, .ccu = "m"}};
  const auto plan = PlanUnits(file);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(CcuNames(*plan), (std::vector<std::string>{"slice0.ccu0", "slice0.m", "slice1.ccu0", "slice2.ccu0",
                                                       "slice2.m", "device.m"}));
  EXPECT_EQ(plan->ccus[5].channel, kDeviceChannel);
  EXPECT_EQ(plan->WireEvents(1), (std::vector<std::string>{"x"}));
  EXPECT_EQ(plan->WireEvents(2), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(plan->WireEvents(3), (std::vector<std::string>{"tx"}));
  EXPECT_EQ(plan->events.events()[2].scope, mailbox::EventScope::kDevice);
}

TEST(UnitPlanTest, AnEventIsMaskedWhereEveryUnitMasksIt) {
  const auto plan =
      PlanUnits(ChipOfUnits({{.name = "a", .events = {{.name = "x", .masked = true}, {.name = "y", .masked = true}}},
                             {.name = "b", .events = {{.name = "x"}, {.name = "z"}}},
                             {.name = "c", .events = {{.name = "y", .masked = true}}}}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::map<std::string, bool> masked;
  for (const mailbox::EventInfo& event : plan->events.events()) masked[event.name] = event.masked;
  EXPECT_EQ(masked, (std::map<std::string, bool>{{"x", false}, {"y", true}, {"z", false}}));
}

TEST(UnitPlanTest, AFullNumberHasACounterPerDigit) {
  const auto plan = PlanUnits(ChipOfUnits({{.name = "a", .events = {{.name = "w"}, {.name = "n", .bits = 3}}}}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto& inputs = plan->ccus[0].ulcs[0].inputs;
  ASSERT_EQ(inputs.size(), 4u);
  for (uint32_t digit = 0; digit < 3; ++digit) {
    EXPECT_EQ(inputs[1 + digit].wire, 1 + digit);
    EXPECT_EQ(inputs[1 + digit].meaning, (EventShare{1, static_cast<uint8_t>(digit)}));
    EXPECT_EQ(inputs[1 + digit].digits, 0);
  }
  EXPECT_EQ(plan->WireEvents(0), (std::vector<std::string>{"w", "n", "n", "n"}));
}

TEST(UnitPlanTest, FiveDigitsOfAPrescaledNumberShareACounter) {
  const auto plan = PlanUnits(ChipOfUnits(
      {{.name = "a",
        .count = 2,
        .events = {{.name = "n", .bits = 7, .prescaled = true}, {.name = "s", .bits = 2, .prescaled = true}}}}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto& inputs = plan->ccus[0].ulcs[1].inputs;  // second instance: its wires start at 9
  ASSERT_EQ(inputs.size(), 4u);
  EXPECT_EQ(inputs[0].digits, 5);
  EXPECT_EQ(inputs[0].wire, 9u);
  EXPECT_EQ(inputs[1].wire, 14u);
  EXPECT_EQ(inputs[1].meaning.shift, 0);
  EXPECT_EQ(inputs[2].wire, 15u);
  EXPECT_EQ(inputs[2].meaning.shift, 1);
  EXPECT_EQ(inputs[3].digits, 2);
  EXPECT_EQ(inputs[3].wire, 16u);
  EXPECT_EQ(plan->wires[0].size(), 18u);
}

TEST(UnitPlanTest, AMaskedEventIsInTheTableButNotAdded) {
  const auto plan =
      PlanUnits(ChipOfUnits({{.name = "a", .events = {{.name = "x", .bits = 2, .masked = true}, {.name = "y"}}}}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto& inputs = plan->ccus[0].ulcs[0].inputs;
  EXPECT_TRUE(inputs[0].masked && inputs[1].masked);
  EXPECT_FALSE(inputs[2].masked);
  EXPECT_EQ(plan->events.events().size(), 2u);
}

TEST(UnitPlanTest, WhatIsPlannedIsValid) {
  const ChipFile file = ChipOfUnits({{.name = "a", .count = 200, .events = {{.name = "x", .bits = 32}}}}, 64);
  const auto plan = PlanUnits(file);
  ASSERT_TRUE(plan.ok()) << plan.status();
  PipelineConfig config = file.pipeline;
  config.events = static_cast<uint32_t>(plan->events.events().size());
  config.ccus = plan->ccus;
  EXPECT_TRUE(Validate(config).ok()) << Validate(config);
}

TEST(UnitPlanTest, AChipOfAWaveformHasAnEmptyPlan) {
  const auto plan = PlanUnits(ChipOfUnits({}));
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->ccus.empty());
  EXPECT_TRUE(plan->events.events().empty());
}

}  // namespace
}  // namespace sideband::mcu

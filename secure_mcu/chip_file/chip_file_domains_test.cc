// SPDX-License-Identifier: Apache-2.0
//
// `domains`, `scheduler` and `units[].domain` of chip files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "secure_mcu/chip_file/loaded_text.h"
#include "secure_mcu/chip_file/unit_plan.h"

namespace sideband::mcu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// `domains` are on line 3, and `units` on the line after what follows.
std::string DomainsChip(const std::string& keys,
                        const std::string& units = "  - {name: sm, events: [busy], domain: sm}\n") {
  return "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
         "slices: 2\n" +
         keys + "units:\n" + units + "vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: []}]\n";
}

TEST(ChipFileDomainsTest, ReadsADomain) {
  const auto file = LoadText(DomainsChip(
      "domains: [{name: sm, hz: 1400000000, ppm: -37.5, wander_ppb_per_s: 50, steps: [{at: 1ms, hz: 700000000}],\n"
      "  gated: [{from: 2ms, to: 3ms}], announces: false, wire_ns: [5, 50], sync_edges: 3}]\n"
      "scheduler: {id: 7, domain: sm, reference_delay_ns: 40}\n"));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->pipeline.domains.size(), 1u);
  const DomainSpec& domain = file->pipeline.domains[0];
  EXPECT_EQ(domain.name, "sm");
  EXPECT_EQ(domain.clock.hz, 1'400'000'000u);
  EXPECT_EQ(domain.clock.offset_ppb, -37'500);
  EXPECT_EQ(domain.clock.tolerance_ppb, 37'500u);
  EXPECT_EQ(domain.clock.wander_ppb_per_s, 50u);
  ASSERT_EQ(domain.clock.steps.size(), 1u);
  EXPECT_EQ(domain.clock.steps[0].at, sim::InstantAtCycle(1'000'000));
  EXPECT_EQ(domain.clock.steps[0].hz, 700'000'000u);
  ASSERT_EQ(domain.clock.gates.size(), 1u);
  EXPECT_EQ(domain.clock.gates[0].from, sim::InstantAtCycle(2'000'000));
  EXPECT_EQ(domain.clock.gates[0].to, sim::InstantAtCycle(3'000'000));
  EXPECT_FALSE(domain.clock.announces);
  EXPECT_EQ(domain.wire_min_ns, 5u);
  EXPECT_EQ(domain.wire_max_ns, 50u);
  EXPECT_EQ(domain.sync_edges, 3u);
  EXPECT_EQ(file->pipeline.scheduler.id, 7u);
  EXPECT_EQ(file->pipeline.scheduler.domain, 1u);
  EXPECT_EQ(file->pipeline.scheduler.reference_delay_ns, 40u);
}

TEST(ChipFileDomainsTest, UnitsOfOtherDomainsHaveOtherCollectionUnits) {
  const auto file =
      LoadText(DomainsChip("domains: [{name: sm, hz: 1400000000}]\n",
                           "  - {name: sm, events: [busy], domain: sm}\n  - {name: l2, events: [hits]}\n"));
  ASSERT_TRUE(file.ok()) << file.status();
  const UnitPlan plan = *PlanUnits(*file);
  ASSERT_EQ(plan.ccus.size(), 6u) << "two for each slice, and that of its resident cycles";
  EXPECT_EQ(plan.ccus[0].ulcs[0].domain, 1u);
  EXPECT_EQ(plan.ccus[1].ulcs[0].domain, 0u);
}

TEST(ChipFileDomainsTest, AClockIsSharedWhereUnitsAre) {
  const auto file = LoadText(
      DomainsChip("domains: [{name: sm, hz: 1400000000}, {name: l2, hz: 900000000}, {name: dram, hz: 800000000}]\n"
                  "shared_units: [{name: l2, events: [hits], domain: l2}]\n"
                  "device_units: [{name: dram, events: [reads], domain: dram}]\n"
                  "device_workload: {phases: [{kind: gemm, time: 1ms}]}\n"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_FALSE(file->pipeline.domains[0].is_shared);
  EXPECT_TRUE(file->pipeline.domains[1].is_shared);
  EXPECT_TRUE(file->pipeline.domains[2].is_shared);
}

TEST(ChipFileDomainsTest, MistakesHaveFileAndLine) {
  const struct {
    std::string keys, error;
  } kCases[] = {
      {"domains: [{name: sm}]\n", ":3: "},
      {"domains: [{name: sm, hz: 999}]\n", ":3: hz is 999, must be a whole number from 1000 to 100000000000"},
      {"domains: [{name: sm, hz: 1000, ppm: 10001}]\n", ":3: ppm is 10001, must be a number from -10000 to 10000"},
      {"domains: [{name: sm, hz: 1000, wander_ppb_per_s: 100001}]\n", ":3: wander_ppb_per_s is 100001,"},
      {"domains: [{name: sm, hz: 1000, steps: [{at: 0ms, hz: 2000}]}]\n", ":3: domain 'sm': steps must be in"},
      {"domains: [{name: sm, hz: 1000, steps: [{at: 1ms, hz: 2}]}]\n", ":3: hz is 2,"},
      {"domains: [{name: sm, hz: 1000, gated: [{from: 2ms, to: 2ms}]}]\n", ":3: domain 'sm': gates must be in"},
      {"domains: [{name: sm, hz: 1000, wire_ns: [5]}]\n", ":3: wire_ns must be [least, most]"},
      {"domains: [{name: sm, hz: 1000, wire_ns: [5, 4]}]\n", ":3: wire_ns is 4, must be a whole number from 5 to"},
      {"domains: [{name: sm, hz: 1000, sync_edges: 17}]\n", ":3: sync_edges is 17,"},
      {"domains:\n  - {name: sm, hz: 1000}\n  - {name: sm, hz: 1000}\n", ":5: domain 'sm' is listed twice"},
      {"domains: [{name: sn, hz: 1000}]\n", ":5: no domain 'sm' (did you mean 'sn'?)"},
      {"domains: [{name: sm, hz: 1000}]\nscheduler: {domain: pll}\n", ":4: no domain 'pll'"},
      {"domains: [{name: sm, hz: 1000}]\nscheduler: {id: 65536}\n", ":4: id is 65536,"},
  };
  for (const auto& [keys, error] : kCases) EXPECT_THAT(RefusalOf(DomainsChip(keys)), StartsWith(error)) << keys;
}

TEST(ChipFileDomainsTest, ATriggerLineHasANameAndAWire) {
  const std::string units = "  - {name: sm, events: [busy]}\n";
  const auto file = LoadText(DomainsChip("trigger_line: rack\ntrigger_wire_ns: [10, 50]\n", units));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->trigger_line.has_value());
  EXPECT_EQ(file->trigger_line->name, "rack");
  EXPECT_EQ(file->trigger_line->wire_min_ns, 10u);
  EXPECT_EQ(file->trigger_line->wire_max_ns, 50u);
  EXPECT_THAT(RefusalOf(DomainsChip("trigger_line: a b\n", units)),
              StartsWith(":3: trigger_line 'a b' has characters"));
  EXPECT_THAT(RefusalOf(DomainsChip("trigger_line: rack\ntrigger_wire_ns: 5\n", units)), StartsWith(":4: "));
  EXPECT_THAT(RefusalOf(DomainsChip("trigger_wire_ns: [1, 2]\n", units)),
              StartsWith(":3: trigger_wire_ns needs a trigger_line"));
}

TEST(ChipFileDomainsTest, ASchedulerNeedsDomains) {
  EXPECT_THAT(RefusalOf(DomainsChip("scheduler: {id: 1}\n", "  - {name: sm, events: [busy]}\n")),
              HasSubstr(":3: a scheduler needs 'domains'"));
}

TEST(ChipFileDomainsTest, ANamedCollectionUnitIsInOneDomain) {
  const std::string units =
      "  - {name: sm, events: [busy], domain: sm, ccu: near}\n  - {name: l2, events: [hits], ccu: near}\n";
  EXPECT_THAT(RefusalOf(DomainsChip("domains: [{name: sm, hz: 1000}]\n", units)),
              StartsWith(":6: collection unit 'near' is in another clock domain than unit 'l2'"));
}

TEST(ChipFileDomainsTest, ThereAreSixtyFourMonitorsAtMost) {
  std::string chip =
      DomainsChip("domains: [{name: sm, hz: 1000}, {name: l2, hz: 1000}]\n",
                  "  - {name: sm, events: [busy], domain: sm}\n  - {name: l2, events: [hits], domain: l2}\n");
  chip.replace(chip.find("slices: 2"), 9, "slices: 33");
  EXPECT_THAT(RefusalOf(chip), StartsWith(":3: number of domains, each on its slices and on the device, is 66"));
}

}  // namespace
}  // namespace sideband::mcu

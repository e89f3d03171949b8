// SPDX-License-Identifier: Apache-2.0
//
// The sections of chip files, with their mistakes; clock domains, too.
#include "secure_mcu/chip_file/chip_file_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/loaded_text.h"
#include "secure_mcu/chip_file/unit_plan.h"

namespace sideband::mcu {
namespace {

using mailbox::Relation;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kBoardChip[] = R"(device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}
domains:
  - {name: sm, hz: 900000000, levels: [300000000, 600000000]}
  - {name: fixed, hz: 900000000}
units:
  - {name: sm, domain: sm, events: [sm_active_cycles, dram_read_cycles]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts: [{name: train, slice: 0, phases: [{kind: gemm, time: 2ms}]}]
)";

absl::StatusOr<ChipFile> LoadBoard(const std::string& rest) { return LoadText(kBoardChip + rest); }

TEST(ChipFileBoardTest, WithoutTheKeyThereIsNothing) {
  const auto file = LoadBoard("");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_FALSE(file->board.thermal || file->board.power_limit || file->board.memory || file->board.ecc);
  EXPECT_EQ(file->board.throttled_domain, 0u);
  EXPECT_FALSE(file->board.bundles || file->board.driver_events || file->board.power_connector);
}

TEST(ChipFileBoardTest, ReadsEverything) {
  const auto file = LoadBoard(R"(power: {idle_w: 20, time_constant: 250ms}
board:
  name: Example 100
  thermal: {target_c: 60, software_slowdown_c: 70, slowdown_c: 75, shutdown_c: 80, memory_slowdown_c: 85}
  power_limit: {least_w: 50, most_w: 200.5, default_w: 150}
  memory: {events: [dram_read_cycles], idle_w: 4, c_per_watt: 0.5}
  module: {overhead_w: 12}
  throttle: sm
  ecc: 6
  row_remapping: true
  page_retirement: true
  nvlink: {count: 4, mbps: 50000}
  pcie: {generation: 5, lanes: 8}
  bundles: false
)");
  ASSERT_TRUE(file.ok()) << file.status();
  const BoardSpec& board = file->board;
  EXPECT_EQ(file->power.time_constant_s, 0.25);
  EXPECT_EQ(board.name, "Example 100");
  EXPECT_EQ(board.thermal->target_c, 60);
  EXPECT_EQ(board.thermal->memory_slowdown_c, 85);
  EXPECT_EQ(board.power_limit->most_mw, 200'500u);
  EXPECT_EQ(board.memory->events, std::vector<std::string>{"dram_read_cycles"});
  EXPECT_EQ(board.memory->idle_mw, 4000);
  EXPECT_EQ(board.module_overhead_mw, 12'000);
  EXPECT_EQ(board.throttled_domain, 1u);
  EXPECT_EQ(board.ecc, EccGeneration::kV6);
  EXPECT_TRUE(board.row_remapping && board.page_retirement);
  EXPECT_EQ(board.nvlink->count, 4);
  EXPECT_EQ(board.nvlink->mbps, 50'000u);
  EXPECT_EQ(board.pcie->generation, 5);
  EXPECT_EQ(board.pcie->lanes, 8);
  EXPECT_TRUE(board.driver_events && board.power_connector && board.write_protection);
  EXPECT_FALSE(board.bundles);
}

TEST(ChipFileBoardTest, AMistakeIsNamedWithItsRange) {
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"{termal: {}}", "termal"},
           {"{name: this name is longer than 24}", "name"},
           {"{thermal: {slowdown_c: 201}}", "slowdown_c"},
           {"{thermal: {software_slowdown_c: 93}}", "must be in ascending order"},
           {"{power_limit: {default_w: 90}}", "default_w must be from least_w to most_w"},
           {"{throttle: fixed}", "domain 'fixed' has no 'levels'"},
           {"{throttle: smm}", "smm"},
           {"{ecc: 1}", "ecc"},
           {"{ecc: 7}", "ecc"},
           {"{nvlink: {}}", "count"},
           {"{nvlink: {count: 33}}", "count"},
           {"{pcie: {lanes: 3}}", "lanes is 3, must be 1, 2, 4, 8, 16 or 32"},
           {"{pcie: {generation: 6}}", "generation"},
           {"{memory: {events: [dram_red_cycles]}}", "did you mean 'dram_read_cycles'?"},
           {"5", "expected a mapping"}}) {
    const absl::Status status = LoadBoard(absl::StrCat("board: ", text, "\n")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(error)) << text;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("chip.yaml:11:")) << text;
  }
}

TEST(ChipFileBoardTest, TheTimeConstantHasARange) {
  for (const char* const time : {"0s", "0.5ms", "2h"}) {
    EXPECT_FALSE(LoadBoard(absl::StrCat("power: {time_constant: ", time, "}\n")).ok()) << time;
  }
  EXPECT_TRUE(LoadBoard("power: {time_constant: 1ms}\n").ok());
}

// `relations`, `rotation` and `fixed` of chip files.
std::string RotationPath() { return testing::TempDir() + "rotation.yaml"; }

void WriteRotation(const std::string& text) { std::ofstream(RotationPath()) << text; }

// Two units on lines 4 and 5, of which the first has six events and four counters; a device unit on line 7. `keys`
// begin on line 9.
std::string RotationChip(const std::string& keys, const std::string& fixed = "") {
  return "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
         "slices: 2\n"
         "units:\n"
         "  - {name: sm, count: 2, counters: 4, events: [idle, busy, loads, stores, memory, hits]" +
         fixed +
         "}\n"
         "  - {name: l2, events: [l2_reads, {name: bytes, bits: 10, count: prescaled}]}\n"
         "device_units:\n"
         "  - {name: dram, counters: 1, events: [dram_reads, dram_writes]}\n"
         "device_workload: {phases: [{kind: gemm, time: 1ms}]}\n" +
         keys + "vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: []}]\n";
}

std::string Refused(const std::string& keys, const std::string& fixed = "") {
  return RefusalOf(RotationChip(keys, fixed));
}

TEST(ChipFileRotationTest, ReadsARotation) {
  const auto file = LoadText(
      RotationChip("rotation: {slots: {stable: 1ms}, weights: {hits: 2}, instructions: busy, dead_cycles: 7, seed: 5, "
                   "slots_min: 30us}\n"
                   "relations:\n"
                   "  - {sum: [busy, idle], of: resident_cycles, times: 2}\n"
                   "  - {event: memory, is_sum_of: [loads, stores]}\n"
                   "  - {event: hits, at_most: l2_reads}\n",
                   ", fixed: [busy]"));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->pipeline.rotation.has_value());
  const RotationSpec& rotation = *file->pipeline.rotation;
  EXPECT_EQ(rotation.settings.stable_slot, 1'000'000u);
  EXPECT_EQ(rotation.settings.weights, (std::map<uint16_t, uint32_t>{{5, 2000}}));
  EXPECT_EQ(rotation.fixed, (mailbox::EventSet{0b10}));
  EXPECT_EQ(rotation.instructions, 1u);
  EXPECT_EQ(rotation.dead_cycles, 7u);
  EXPECT_EQ(rotation.seed, 5u);
  EXPECT_EQ(rotation.slots_min, 30'000u);
  EXPECT_EQ(file->pipeline.relations,
            (std::vector<Relation>{{.members = {0, 1}, .times = 2},
                                   {.kind = Relation::Kind::kSum, .members = {2, 3}, .whole = 4},
                                   {.kind = Relation::Kind::kAtMost, .members = {6}, .whole = 5}}));
}

TEST(ChipFileRotationTest, ReadsARotationOfItsOwnFile) {
  WriteRotation("profile: two-set\nslots: {stable: 2ms, fluctuating: 1ms}\n");
  const auto file = LoadText(RotationChip("rotation: {file: rotation.yaml}\n"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->pipeline.rotation->settings.profile, mailbox::RotationProfile::kTwoSet);
  EXPECT_EQ(file->pipeline.rotation->settings.fluctuating_slot, 1'000'000u);

  WriteRotation("step: 2\nslots: {stable: 2x}\n");
  EXPECT_THAT(Refused("rotation: {file: rotation.yaml}\n"), StartsWith(RotationPath() + ":2: 'stable' must be"));
  WriteRotation("\nweights:\n  hit: 1\n");
  EXPECT_EQ(Refused("rotation: {file: rotation.yaml}\n"), RotationPath() + ":3: no event 'hit' (did you mean 'hits'?)");
  WriteRotation("\nslots: {stable: 4us}\n");
  EXPECT_EQ(Refused("rotation: {file: rotation.yaml}\n"),
            RotationPath() + ":2: stable slot (cycles) is 4000, must be from 4088 to 1000000000000");
  EXPECT_THAT(Refused("rotation: {file: rotation.yaml, step: 2}\n"), HasSubstr(":9: "));
  const absl::Status nowhere = LoadText(RotationChip("rotation: {file: nowhere.yaml}\n")).status();
  EXPECT_THAT(std::string(nowhere.message()), StartsWith(testing::TempDir() + "nowhere.yaml"));
}

TEST(ChipFileRotationTest, HasNoneWithoutTheKey) {
  EXPECT_EQ(Refused(""),
            ":4: unit 'sm': number of counters is 6, must be from 1 to 4; with 'rotation' its events take turns, with "
            "'selections' each VM has some of them");
  EXPECT_EQ(Refused("", ", fixed: [busy]"),
            ":4: unit 'sm': 'fixed' needs 'rotation', in which other events take turns");
}

TEST(ChipFileRotationTest, DeviceUnitsCannotSelect) {
  const std::string text =
      "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
      "units: [{name: sm, events: [busy]}]\n"
      "device_units:\n"
      "  - {name: dram, counters: 1, events: [dram_reads, dram_writes]}\n"
      "device_workload: {phases: [{kind: gemm, time: 1ms}]}\n"
      "vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: []}]\n";
  EXPECT_EQ(LoadText(text).status().message(),
            ChipPath() +
                ":4: unit 'dram': number of counters is 2, must be from 1 to 1; with 'rotation' its events take "
                "turns");
}

TEST(ChipFileRotationTest, AMistakeIsNamed) {
  EXPECT_EQ(Refused("rotation: {slots: {stable: 4us}}\n"),
            ":9: stable slot (cycles) is 4000, must be from 4088 to 1000000000000");
  EXPECT_EQ(Refused("rotation:\n  weights:\n    buzy: 1\n"), ":11: no event 'buzy' (did you mean 'busy'?)");
  EXPECT_EQ(Refused("rotation:\n  instructions: buzy\n"), ":10: no event 'buzy' (did you mean 'busy'?)");
  EXPECT_EQ(Refused("rotation: {instructions: busy}\n"),
            ":9: event 'busy' cannot be that of instructions: it takes turns, and is not fixed");
  EXPECT_EQ(Refused("rotation: {counters: 3}\n"),
            ":9: key 'counters' is only for replays: a chip file says it of its units");
  EXPECT_EQ(Refused("rotation: {}\nextension: 1\n"),
            ":9: 'rotation' needs extension 2: others cannot tell an estimate from a count");
  EXPECT_EQ(Refused("relations: []\nextension: off\n"),
            ":9: 'relations' needs extension 2: others cannot tell an estimate from a count");
  EXPECT_EQ(Refused("rotation: {}\nselections: [{name: a, events: []}]\n"),
            ":9: a chip has 'selections', of which each VM has one, or a 'rotation', not both");
  EXPECT_EQ(Refused("rotation: {}\n", ", fixed: [busy, idel]"),
            ":4: unit 'sm' has no event 'idel' to fix (did you mean 'idle'?)");
  EXPECT_EQ(Refused("rotation: {}\n", ", fixed: [busy, idle, loads, stores]"),
            ":4: the fixed events of unit sm.0 need 4 counters, it has 4: one at least must be left");
  EXPECT_EQ(Refused("rotation: {}\n", ", fixed: [busy, busy]"), ":4: event 'busy' is listed twice");
}

TEST(ChipFileRotationTest, AMistakeInFixedEventsIsAtTheirLine) {
  const auto refused = [](const std::string& of_sm, const std::string& of_l2, const std::string& of_dram) {
    const std::string message(LoadText("device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
                                       "rotation: {file: rotation.yaml}\n"
                                       "units:\n"
                                       "  - name: sm\n"
                                       "    counters: 2\n"
                                       "    events: [a, b, c]\n"
                                       "    fixed:\n"
                                       "      " +
                                       of_sm +
                                       "\n"
                                       "  - name: l2\n"
                                       "    events: [d, e]\n"
                                       "    fixed: " +
                                       of_l2 +
                                       "\n"
                                       "device_units:\n"
                                       "  - name: dram\n"
                                       "    counters: 1\n"
                                       "    events: [f, g]\n"
                                       "    fixed: " +
                                       of_dram +
                                       "\n"
                                       "device_workload: {phases: [{kind: gemm, time: 1ms}]}\n"
                                       "vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: []}]\n")
                                  .status()
                                  .message());
    return message.substr(std::min(ChipPath().size(), message.size()));
  };
  WriteRotation("slots: {stable: 1ms}\n");
  EXPECT_EQ(refused("[a, c]", "[]", "[f]"),
            ":8: the fixed events of unit sm.0 need 2 counters, it has 2: one at least must be left");
  EXPECT_THAT(refused("[b]", "[]", "[f]"), StartsWith(":16: the fixed events of unit dram"));
  EXPECT_EQ(refused("[b]", "[e, d]", "[]"),
            ":11: event 'd' cannot be fixed: no unit with more events than counters has it");
}

TEST(ChipFileRotationTest, MoreThan64SetsAreRefused) {
  const auto text = [](size_t events) {
    std::string names = "e0";
    for (size_t i = 1; i < events; ++i) absl::StrAppend(&names, ", e", i);
    return absl::StrCat(
        "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
        "units:\n"
        "  - {name: sm, counters: 2, fixed: [e0], events: [",
        names,
        "]}\n"
        "\n"
        "rotation: {adapt: false}\n"
        "vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: []}]\n");
  };
  EXPECT_TRUE(LoadText(text(65)).ok());
  EXPECT_EQ(LoadText(text(66)).status().message(), ChipPath() + ":5: the events need 65 counter sets, of at most 64");
}

TEST(ChipFileRotationTest, AMistakenRelationIsNamed) {
  EXPECT_EQ(Refused("rotation: {}\nrelations:\n  - {sum: [busy, idel], of: resident_cycles}\n"),
            ":11: no event 'idel' (did you mean 'idle'?)");
  EXPECT_EQ(Refused("rotation: {}\nrelations:\n  - {event: busy, at_most: dram_reads}\n"),
            ":11: events 'dram_reads' and 'busy' are of different scopes");
  EXPECT_THAT(Refused("rotation: {}\nrelations:\n  - {event: bytes, at_most: l2_reads}\n"),
              StartsWith(":11: event 'bytes' is counted prescaled"));
  EXPECT_EQ(Refused("rotation: {}\nrelations:\n  - {event: busy, is_sum_of: [busy, idle]}\n"),
            ":11: event 'busy' is named twice");
}

TEST(ChipFileRotationTest, NeedsWhatCanTurn) {
  const std::string text =
      "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
      "units:\n"
      "  - {name: sm, events: [busy, {name: wide, bits: 8}]COUNTERS}\n"
      "rotation: {}\n"
      "vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: []}]\n";
  const auto with = [&](const std::string& counters) {
    return std::string(text).replace(text.find("COUNTERS"), 8, counters);
  };
  EXPECT_EQ(LoadText(with("")).status().message(),
            ChipPath() + ":4: a rotation needs a unit with more events than counters");
  EXPECT_EQ(LoadText(with(", counters: 7")).status().message(),
            ChipPath() + ":4: event 'wide' needs 8 counters of unit sm.0, which has 7 for events that take turns");
  EXPECT_TRUE(LoadText(with(", counters: 8")).ok());
}

TEST(ChipFileRotationTest, NeedsUnits) {
  const std::string text =
      "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
      "waveform: {trace: t, signals: s, schedule: c}\n"
      "rotation: {}\n"
      "vms: []\n";
  EXPECT_EQ(LoadText(text).status().message(), ChipPath() + ":3: 'rotation' needs units, whose events it is about");
}

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

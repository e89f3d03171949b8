// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/chip_file.h"

namespace sideband::mcu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ReadPathTest, ByHand) {
  const ReadPathRegisters registers = CountReadPath(/*slices=*/2, /*events=*/17);
  EXPECT_EQ(registers.clients, 3u * (65 * 64 + 2 * 7 + 7 + 17 + 64 + 32 + 4));
  EXPECT_EQ(registers.managers, 5u * (17 * 65 + 5 + 3 * 2));
  const uint64_t requests = (17 + 17 + 1 + 2 + 1) + 2 * (17 + 17 + 1 + 1) + 2, answers = 2 * 2 * (64 + 6 + 3);
  EXPECT_EQ(registers.interconnect, 3u * (requests + answers) + 5 * 3);
  EXPECT_EQ(registers.total(), registers.clients + registers.managers + registers.interconnect);
}

// Each 64 events of a module have a manager; values are latched once for each event.
TEST(ReadPathTest, MoreEventsNeedMoreManagers) {
  const ReadPathRegisters one = CountReadPath(1, 64), two = CountReadPath(1, 65);
  EXPECT_EQ(two.clients, one.clients);
  EXPECT_EQ(two.managers - one.managers, 3u * (65 + 5 + 4));
  EXPECT_EQ(two.interconnect - one.interconnect, 3u * 2);
}

TEST(ReadPathTest, NothingToReadNeedsNothing) { EXPECT_EQ(CountReadPath(2, 0).total(), 0u); }

Description DescribeText(const std::string& text) {
  const std::string path = testing::TempDir() + "chip.yaml";
  std::ofstream(path) << text;
  const auto file = LoadChipFile(path);
  EXPECT_TRUE(file.ok()) << file.status();
  const auto description = Describe(*file);
  EXPECT_TRUE(description.ok()) << description.status();
  return description.value_or(Description());
}

std::string Chip(const std::string& rotation) {
  return absl::StrCat(
      "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
      "slices: 2\n"
      "units:\n"
      "  - {name: sm, count: 8, counters: 3, fixed: [busy], events: [busy, loads, stores, memory, hits, idle, wait]}\n"
      "  - {name: l2, counters: 1, events: [l2_reads, l2_writes]}\n"
      "relations:\n"
      "  - {event: memory, is_sum_of: [loads, stores]}\n"
      "rotation: ",
      rotation, "\nvms: []\n");
}

TEST(RotationTest, ShowsSetsAndWhatIsDerived) {
  const RotationDescription rotation = DescribeText(Chip("{instructions: busy}")).rotation;
  EXPECT_EQ(rotation.profile, "fast");
  EXPECT_EQ(rotation.events, 9u);
  EXPECT_EQ(rotation.sets, 3u);
  EXPECT_EQ(rotation.passes, 1u);
  EXPECT_EQ(rotation.stable_slot, 200'000u);
  ASSERT_EQ(rotation.derived.size(), 1u);
  EXPECT_EQ(rotation.derived[0].event, "memory");
  EXPECT_EQ(rotation.derived[0].formula, "loads + stores");
  ASSERT_EQ(rotation.units.size(), 2u) << "units that are alike are one";
  EXPECT_EQ(rotation.units[0].name, "sm.0");
  EXPECT_THAT(rotation.units[0].fixed, ElementsAre("busy"));
  EXPECT_THAT(rotation.units[0].sets, ElementsAre(ElementsAre("loads", "stores", "memory"), ElementsAre("hits", "idle"),
                                                  ElementsAre("hits", "wait")));
  EXPECT_EQ(rotation.units[1].sets.size(), 3u);
}

TEST(RotationTest, ShowsPasses) {
  const Description description = DescribeText(Chip("{profile: two-set, instructions: busy}"));
  EXPECT_EQ(description.rotation.passes, 2u);
  EXPECT_THAT(FormatTree(description),
              HasSubstr("rotation: two-set, 9 events, 1 derived, 3 sets, 2 in a pass, 2 passes, "
                        "slots of 8000 ms, in fluctuating periods 4000 ms"));
  const auto json = nlohmann::json::parse(FormatJson(description))["rotation"];
  EXPECT_EQ(json["passes"], 2);
  EXPECT_EQ(json["sets_per_pass"], 2);
}

TEST(RotationTest, WithoutInstructionsAllSlotsAreShort) {
  const Description description = DescribeText(Chip("{}"));
  EXPECT_EQ(description.rotation.stable_slot, 100'000u);
  EXPECT_THAT(FormatTree(description), HasSubstr("all in one pass, slots of 0.1 ms\n"));
}

TEST(RotationTest, FormatsBothWays) {
  const Description description = DescribeText(Chip("{instructions: busy}"));
  EXPECT_THAT(FormatTree(description),
              HasSubstr("├─ rotation: fast, 9 events, 1 derived, 3 sets, all in one pass, slots of 0.2 ms, in "
                        "fluctuating periods 0.1 ms\n"
                        "│  ├─ derived: 1 event\n"
                        "│  │  └─ memory = loads + stores\n"
                        "│  ├─ sm.0: 7 events on 3 counters\n"
                        "│  │  ├─ always: busy\n"
                        "│  │  ├─ set 0: loads, stores, memory (derived)\n"
                        "│  │  ├─ set 1: hits, idle\n"));
  const auto json = nlohmann::json::parse(FormatJson(description))["rotation"];
  EXPECT_EQ(json["profile"], "fast");
  EXPECT_EQ(json["events"], 9);
  EXPECT_EQ(json["sets"], 3);
  EXPECT_EQ(json["sets_per_pass"], 3);
  EXPECT_EQ(json["derived"][0]["is"], "loads + stores");
  EXPECT_EQ(json["units"][0]["unit"], "sm.0");
  EXPECT_EQ(json["units"][0]["sets"][1][0], "hits");
}

TEST(RotationTest, WritesFormulas) {
  PipelineConfig config{.events = 5, .ccus = {{.name = "ccu0", .ulcs = {}}}};
  UlcSpec unit{.name = "sm.0", .inputs = {}, .counters = 3};
  for (uint16_t event = 0; event < 5; ++event) unit.inputs.push_back({.wire = event, .meaning = {event, 0}});
  config.ccus[0].ulcs = {unit};
  config.rotation = RotationSpec();
  const auto formula = [&](const mailbox::Relation& relation) {
    config.relations = {relation};
    const auto rotation = DescribeRotation(config, {"a", "b", "c", "d", "e"});
    EXPECT_TRUE(rotation.ok() && rotation->derived.size() == 1) << rotation.status();
    return absl::StrCat(rotation->derived[0].event, " = ", rotation->derived[0].formula);
  };
  EXPECT_EQ(formula({.members = {0, 1, 2}}), "c = resident_cycles − a − b");
  EXPECT_EQ(formula({.members = {0, 1}, .times = 4}), "b = 4 · resident_cycles − a");
  config.rotation->fixed = {0b00100};
  EXPECT_EQ(formula({.kind = mailbox::Relation::Kind::kSum, .members = {0, 1}, .whole = 2}), "b = c − a")
      << "the whole is in every set";
}

TEST(RotationTest, IsEmptyWithoutRotation) {
  const Description description = DescribeText(
      "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\nunits: [{name: sm, events: [busy]}]\nvms: []\n");
  EXPECT_EQ(description.rotation.sets, 0u);
  EXPECT_FALSE(nlohmann::json::parse(FormatJson(description)).contains("rotation"));
}

// Two slices with a collection unit each. Slice 0 has two unit-level counters of one event, and a third of a prescaled
// number of seven digits and a masked wire. Slice 1 has a unit-level counter of nine events.
PipelineConfig TinyPipeline() {
  const UlcSpec one{.name = "a", .inputs = {{.wire = 0, .meaning = {0, 0}}}, .counter_bits = 4, .period = 10};
  const UlcSpec number{.name = "n",
                       .inputs = {{.wire = 1, .meaning = {1, 0}, .digits = 5},
                                  {.wire = 6, .meaning = {1, 0}},
                                  {.wire = 7, .meaning = {1, 1}},
                                  {.wire = 8, .meaning = {2, 0}, .masked = true}},
                       .counter_bits = 9,
                       .period = 100};
  UlcSpec nine{.name = "e", .counter_bits = 5, .period = 50};
  for (uint16_t event = 0; event < 9; ++event) nine.inputs.push_back({.wire = event, .meaning = {event, 0}});
  return {
      .slices = 2,
      .events = 10,
      .ccus = {{.name = "s0", .channel = 0, .ulcs = {one, one, number}}, {.name = "s1", .channel = 1, .ulcs = {nine}}},
      .clock_hz = 1000,
      .trigger_period = 100,
      .commit_period = 500,
      .hypervisor_commit_period = 250,
      .out_of_band_commit_period = 0,
      .buffer_depth = 3};
}

TEST(TotalsTest, ARecordHasWhatRecordHNames) { EXPECT_EQ(kRecordBits, 317u); }

TEST(TotalsTest, RegistersByHand) {
  const Registers registers = CountRegisters(TinyPipeline());
  EXPECT_EQ(registers.ulc_counters, 4u + 4 + 4 * 9 + 9 * 5);
  EXPECT_EQ(registers.prescalers, 6u);
  EXPECT_EQ(registers.serialisers, (2u + 4) + (2 + 4) + (2 + 36) + (2 + 45));
  // Slice 0 has three counters: event 0, and event 1 without and with a shift. The five prescaled digits use the
  // counter without a shift.
  EXPECT_EQ(registers.ccu_banks, 2u * 28 * 3 + 2 * 28 * 9);
  EXPECT_EQ(registers.buffer, 3u * 317);
  EXPECT_EQ(registers.reduction_channels, 3u * 10 * 64);
  EXPECT_EQ(registers.total(), 89u + 6 + 97 + 672 + 951 + 1920);
}

TEST(TotalsTest, TheOutOfBandChannelIsOneMore) {
  PipelineConfig config = TinyPipeline();
  config.out_of_band_commit_period = 100;
  EXPECT_EQ(CountRegisters(config).reduction_channels, 4u * 10 * 64);
  EXPECT_EQ(CountTraffic(config, std::vector<double>{0, 0}).rc_to_memory, 640u * (2 * 2 * 2 + 4 + 10));
}

TEST(TotalsTest, TrafficByHand) {
  const Traffic traffic = CountTraffic(TinyPipeline(), std::vector<double>{5, 0});
  EXPECT_EQ(traffic.ulc_to_ccu, 2u * 6 * 100 + 38 * 10 + 47 * 20);
  EXPECT_EQ(traffic.ccu_to_buffer, (1u + 2) * 317 * 10);
  EXPECT_EQ(traffic.switches, 5u * ((1 + 1) * 317 + 2 * 10 * 64));
  EXPECT_EQ(traffic.rc_to_memory, 640u * (2 * 2 * 2 + 4));
  EXPECT_EQ(traffic.beyond_ccu(), 9510u + 9570 + 7680);
}

TEST(TotalsTest, AFlatDesignByHand) {
  const FlatDesign flat = CountFlat(TinyPipeline(), std::vector<double>{5, 0});
  EXPECT_EQ(flat.wires, 1u + 1 + 7 + 9) << "without the masked one";
  EXPECT_EQ(flat.registers, 18u * 64);
  EXPECT_EQ(flat.polls, 18u * 64 * 10);
  EXPECT_EQ(flat.switches, 2u * 9 * 64 * 5);
}

TEST(TotalsTest, APeriodOfNoneMovesNothing) {
  PipelineConfig config = TinyPipeline();
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = 0;
  EXPECT_EQ(CountTraffic(config, std::vector<double>{0, 0}).beyond_ccu(), 0u);
  EXPECT_EQ(CountFlat(config, std::vector<double>{0, 0}).moved(), 0u);
}

// virtual-counters.md's own figures, of a unit with 45 counters of 64 sources.
TEST(TotalsTest, SelectRegistersByHand) {
  PipelineConfig config = TinyPipeline();
  EXPECT_EQ(CountSelects(config), SelectRegisters()) << "no selections, no registers";
  UlcSpec unit{.name = "sm.0", .counter_bits = 9, .period = 511};
  for (uint16_t event = 0; event < 64; ++event) unit.inputs.push_back({.wire = event, .meaning = {event, 0}});
  config.events = 64;
  config.ccus = {{.name = "s0", .channel = 0, .ulcs = {unit, unit}}};
  config.selections = {{0}};
  EXPECT_EQ(CountSelects(config), (SelectRegisters{.bits = 270, .registers = 1})) << "one for both units";
  const CcuSpec ccu = config.ccus[0];
  config.ccus.assign(8, ccu);
  EXPECT_EQ(CountSelects(config).bits, 2160u);
  const Registers registers = CountRegisters(config);
  EXPECT_EQ(registers.ulc_counters, 8u * 2 * 45 * 9) << "counters, not sources";
  EXPECT_EQ(registers.serialisers, 8u * 2 * (2 + 45 * 9));
  EXPECT_EQ(registers.ccu_banks, 8u * 2 * 28 * 45);
  EXPECT_EQ(registers.buffer, 3u * (317 + 8)) << "records say which selection they have";
}

// virtual-counters.md's own figure, of the large chip with as many groups as there can be.
TEST(TotalsTest, GatesByHand) {
  PipelineConfig config = TinyPipeline();
  EXPECT_EQ(CountGates(config).total(), 0u) << "no groups, no gates";
  config.slices = 8;
  config.gate_groups.resize(64);
  EXPECT_EQ(CountGates(config).total(), 8u * (2 * 66 + 64 * 19 + 131));
}

// Two slices; the second has an additional unit.
ChipFile TinyChip() {
  ChipFile file{.path = "tiny.yaml", .serial = "S"};
  file.pipeline = {.slices = 2,
                   .clock_hz = 1000,
                   .trigger_period = 100,
                   .commit_period = 500,
                   .hypervisor_commit_period = 0,
                   .buffer_depth = 3};
  const UlcSpec shape{.counter_bits = 4, .period = 10};
  file.units = {{.name = "sm", .count = 3, .events = {{.name = "a"}}, .ulc = shape},
                {.name = "l2", .events = {{.name = "b"}}, .ulc = shape},
                {.name = "extra", .events = {{.name = "a"}}, .ulc = shape, .ccu = "x", .slices = {1}}};
  file.vms = {{.name = "vm1", .contexts = {{.name = "c", .slice = 0}, {.name = "d", .slice = 0}}}};
  file.quantum = absl::Milliseconds(90);
  file.gap = absl::Milliseconds(10);
  return file;
}

TEST(DescribeTest, EqualSiblingsAreFolded) {
  const auto description = Describe(TinyChip());
  ASSERT_TRUE(description.ok()) << description.status();
  ASSERT_EQ(description->slices.size(), 2u) << "the second slice has one collection unit more";
  const CcuGroup& ccu = description->slices[0].ccus[0];
  ASSERT_EQ(ccu.ulcs.size(), 2u) << "units of another name stay apart";
  EXPECT_EQ(ccu.ulcs[0].names.first, "sm.0");
  EXPECT_EQ(ccu.ulcs[0].names.last, "sm.2");
  EXPECT_EQ(ccu.ulcs[0].names.count, 3u);
  EXPECT_EQ(ccu.ulcs[0].serial_cycles, 6u);
  EXPECT_EQ(ccu.counters, 2u);
  EXPECT_EQ(description->slices[1].ccus.size(), 2u);
  EXPECT_EQ(description->slices[1].ccus[1].names.first, "x");
}

TEST(DescribeTest, EqualSlicesAreFolded) {
  ChipFile file = TinyChip();
  file.units.pop_back();
  file.device_units = {{.name = "pcie", .events = {{.name = "tx"}}, .ulc = file.units[0].ulc}};
  const auto description = Describe(file);
  ASSERT_TRUE(description.ok()) << description.status();
  ASSERT_EQ(description->slices.size(), 2u);
  EXPECT_EQ(description->slices[0].names.count, 2u);
  EXPECT_EQ(description->slices[0].names.last, "slice1");
  EXPECT_EQ(description->slices[1].names.first, "device");
}

// A shared unit has counters for each slice.
TEST(DescribeTest, SharedUnitsAreCountedOnceForEachSlice) {
  ChipFile file = TinyChip();
  const auto without = Describe(file);
  file.shared_units = {{.name = "mc", .count = 2, .events = {{.name = "r"}, {.name = "w"}}, .ulc = file.units[0].ulc}};
  const auto with = Describe(file);
  ASSERT_TRUE(with.ok()) << with.status();
  const CcuGroup& ccu = with->slices[0].ccus.back();
  EXPECT_EQ(ccu.names.first, "shared/ccu0");
  ASSERT_EQ(ccu.ulcs.size(), 1u);
  EXPECT_EQ(ccu.ulcs[0].names.first, "mc.0");
  EXPECT_EQ(ccu.ulcs[0].names.count, 2u);
  EXPECT_EQ(with->registers.ulc_counters, without->registers.ulc_counters + 2u * 2 * 2 * 4);
  EXPECT_EQ(with->registers.ccu_banks, without->registers.ccu_banks + 2u * 2 * 2 * 28);
}

TEST(DescribeTest, TotalsByHand) {
  const auto description = Describe(TinyChip());
  ASSERT_TRUE(description.ok()) << description.status();
  EXPECT_EQ(description->events, 2u);
  EXPECT_EQ(description->blocks, 4u) << "the hypervisor's, one VM's and two contexts'";
  EXPECT_EQ(description->block_bytes, 28u + 2 * 8);
  EXPECT_EQ(description->page_table_bytes, 4u * 8);
  EXPECT_EQ(description->registers.ulc_counters, 9u * 4);
  EXPECT_EQ(description->registers.serialisers, 9u * 6);
  EXPECT_EQ(description->registers.ccu_banks, 2u * 28 * (2 + 2 + 1));
  EXPECT_EQ(description->read_path.managers, 5u * (2 * 65 + 5 + 3 * 2)) << "two slices and the device, two events";
  EXPECT_EQ(description->traffic.ulc_to_ccu, 9u * 6 * 100);
  EXPECT_EQ(description->traffic.ccu_to_buffer, 3u * 317 * 10);
  // Slice 0 is switched ten times a second; slice 1 has no contexts.
  EXPECT_EQ(description->traffic.switches, 10u * (2 * 317 + 2 * 2 * 64));
  EXPECT_EQ(description->traffic.rc_to_memory, 2u * 2 * 2 * 64 * 2);
  EXPECT_EQ(description->flat.registers, 9u * 64);
  EXPECT_EQ(description->flat.polls, 9u * 64 * 10);
  EXPECT_EQ(description->flat.switches, 2u * 4 * 64 * 10);
}

TEST(DescribeTest, AContextThatIsAloneWithoutAGapStays) {
  ChipFile file = TinyChip();
  file.vms[0].contexts.pop_back();
  EXPECT_GT(Describe(file)->flat.switches, 0u);
  file.gap = absl::ZeroDuration();
  EXPECT_EQ(Describe(file)->flat.switches, 0u);
}

TEST(DescribeTest, TheOutOfBandChannelIsShownWhereThereIsOne) {
  ChipFile file = TinyChip();
  EXPECT_EQ(Describe(file)->reduction_channels.size(), 2u);
  file.pipeline.out_of_band_commit_period = 100;
  EXPECT_EQ(Describe(file)->reduction_channels.back().name, "out of band");
}

constexpr const char* kExamples[] = {"deploy/examples/chip.yaml", "deploy/examples/chip-large.yaml"};

Description DescribeFile(const std::string& path) {
  const auto file = LoadChipFile(path);
  EXPECT_TRUE(file.ok()) << file.status();
  const auto description = Describe(*file);
  EXPECT_TRUE(description.ok()) << description.status();
  return *description;
}

TEST(FormatTest, TheReadmeShowsWhatIsPrinted) {
  std::ifstream file("secure_mcu/describe.md");
  std::stringstream readme;
  readme << file.rdbuf();
  for (const char* path : kExamples) {
    const std::string text = FormatTree(DescribeFile(path));
    EXPECT_NE(readme.str().find(text), std::string::npos) << text;
  }
}

TEST(FormatTest, JsonHasTheSameNumbers) {
  for (const char* path : kExamples) {
    const Description description = DescribeFile(path);
    const auto json = nlohmann::json::parse(FormatJson(description));
    EXPECT_EQ(json["chip"], path);
    EXPECT_EQ(json["flip_flops"]["total"], description.registers.total());
    EXPECT_EQ(json["read_path"]["total"], description.read_path.total());
    EXPECT_EQ(json["bits_per_second"]["ulc_to_ccu"], description.traffic.ulc_to_ccu);
    EXPECT_EQ(json["flat_design"]["flip_flops"], description.flat.registers);
    EXPECT_EQ(json["snapshot_read"]["stream_bytes"], description.snapshot.stream_bytes);
    EXPECT_EQ(json["slices"].size(), description.slices.size());
    EXPECT_EQ(json["memory"]["blocks"], description.blocks);
    EXPECT_EQ(json["memory"]["page_table_bytes"], description.page_table_bytes);
  }
}

TEST(FormatTest, TheLargeChipFoldsIntoOneLinePerLevel) {
  const auto json = nlohmann::json::parse(FormatJson(DescribeFile(kExamples[1])));
  ASSERT_EQ(json["slices"].size(), 1u);
  EXPECT_EQ(json["slices"][0]["count"], 8);
  ASSERT_EQ(json["slices"][0]["ccus"].size(), 2u) << "those of the file, and that of the resident cycles";
  EXPECT_EQ(json["slices"][0]["ccus"][0]["count"], 8);
  EXPECT_EQ(json["slices"][0]["ccus"][0]["ulcs"][0]["count"], 48);
  EXPECT_EQ(json["slices"][0]["ccus"][0]["ulcs"][0]["serial_cycles"], 407);
  EXPECT_EQ(json["flat_design"]["wires"], 138'240 + 8);
  EXPECT_EQ(json["flip_flops"]["ulc_counters"], (138'240 + 8) * 9);
}

TEST(FormatTest, ShowsTheClockDomains) {
  const std::string path = testing::TempDir() + "describe_domains.yaml";
  std::ofstream(path) << "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
                         "domains:\n"
                         "  - {name: sm, hz: 500000000, ppm: 50, wire_ns: [5, 50]}\n"
                         "  - {name: l2, hz: 500000000, gated: [{from: 1ms, to: 2ms}], announces: false}\n"
                         "units: [{name: sm, events: [busy], domain: sm}, {name: l2, events: [hits], domain: l2}]\n"
                         "vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: []}]\n";
  const Description description = DescribeFile(path);
  const std::string text = FormatTree(description);
  EXPECT_NE(text.find("├─ clock domains\n"
                      "│  ├─ sm: 500,000,000 Hz, period 2.000 to 2.000 ns, samples a trigger after 8.000 to 57.000 ns, "
                      "wander 0.000 ns\n"
                      "│  └─ l2: 500,000,000 Hz, period 2.000 ns or more, samples a trigger after 3.000 ns or more, "
                      "wander 0.000 ns, changes unannounced\n"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(FormatJson(description));
  ASSERT_EQ(json["domains"].size(), 2u);
  EXPECT_EQ(json["domains"][1]["longest"], 0);
}

TEST(FormatTest, NothingIsDividedByNothing) {
  const Description nothing{.path = "a\xFF.yaml", .clock_hz = 1};
  EXPECT_NE(FormatTree(nothing).find("bits, times all that the pipeline moves"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(FormatJson(nothing))["flat_design"]["bits_ratio"].is_null());
}

}  // namespace

}  // namespace sideband::mcu

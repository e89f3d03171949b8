// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/describe/describe.h"
#include "secure_mcu/describe/format.h"

namespace sideband::mcu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace sideband::mcu

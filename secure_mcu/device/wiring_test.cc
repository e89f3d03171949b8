// SPDX-License-Identifier: Apache-2.0
//
// Wirings by what a chip file has. Every chip file of deploy/examples can be served.
#include "secure_mcu/device/wiring.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/unit_plan.h"

namespace sideband::mcu {
namespace {

ChipFile File() {
  ChipFile file;
  file.vms = {{.name = "a", .contexts = {{.name = "x", .slice = 0}, {.name = "y", .slice = 63}}},
              {.name = "b", .contexts = {}}};
  return file;
}

TEST(TenantSlicesTest, AVmIsWhereItsContextsAre) {
  const SliceSet last = SliceSet{1} << 63;
  EXPECT_EQ(SlicesOfContexts(File()), (std::vector<SliceSet>{1 | last, 1, last, 0}));
}

TEST(TenantSlicesTest, AScheduleKnowsBetterThanTheFile) {
  const std::vector<sim::Residency> schedule = {
      {.vm = "a", .context = "x", .slice = 1}, {.vm = "b", .slice = 0}, {.vm = "a", .context = "x", .slice = 2}};
  EXPECT_EQ(SlicesOfSchedule(File(), schedule), (std::vector<SliceSet>{0b110, 0b110, 0, 0b001}));
}

std::string First(RoundRobinTimeline& timeline, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const auto event = timeline.Peek();
    if (!event) return text + "end";
    text += std::to_string(event->cycle) + ":" + std::to_string(event->slice) + "=" +
            (event->tenant ? std::to_string(*event->tenant) : "-") + " ";
    timeline.Pop();
  }
  return text;
}

TEST(RoundRobinTimelineTest, TenantsTakeTurnsWithGaps) {
  RoundRobinTimeline timeline({}, {{7, 8}}, {.quantum = 10, .gap = 2});
  EXPECT_EQ(First(timeline, 5), "0:0=7 10:0=- 12:0=8 22:0=- 24:0=7 ");
}

TEST(RoundRobinTimelineTest, WithoutAGapTheySwitchDirectly) {
  RoundRobinTimeline timeline({}, {{7, 8}}, {.quantum = 10, .gap = 0});
  EXPECT_EQ(First(timeline, 3), "0:0=7 10:0=8 20:0=7 ");
}

TEST(RoundRobinTimelineTest, SlicesAreMergedInTime) {
  RoundRobinTimeline timeline({}, {{1}, {}, {2, 3}}, {.quantum = 10, .gap = 1});
  EXPECT_EQ(First(timeline, 6), "0:0=1 0:2=2 10:0=- 10:2=- 11:0=1 11:2=3 ");
}

TEST(RoundRobinTimelineTest, ALonelyTenantStays) {
  RoundRobinTimeline timeline({}, {{1}}, {.quantum = 10, .gap = 0});
  EXPECT_EQ(First(timeline, 2), "0:0=1 end");
}

TEST(RoundRobinTimelineTest, WhoIsRemovedLeavesAtOnceAndMayComeBack) {
  RoundRobinTimeline timeline({}, {{7, 8}}, {.quantum = 10, .gap = 2});
  EXPECT_EQ(First(timeline, 1), "0:0=7 ");
  timeline.Remove(7, 4);
  EXPECT_EQ(First(timeline, 4), "4:0=- 6:0=8 16:0=- 18:0=8 ");
  timeline.Add(7, 20);
  EXPECT_EQ(First(timeline, 4), "28:0=- 30:0=7 40:0=- 42:0=8 ");
  timeline.Remove(7, 50);
  timeline.Remove(8, 50);
  EXPECT_EQ(First(timeline, 2), "50:0=- end");
  timeline.Add(8, 99);
  EXPECT_EQ(First(timeline, 2), "99:0=8 109:0=- ");
}

TEST(RoundRobinTimelineTest, ALonelyTenantGivesWayToWhoComes) {
  RoundRobinTimeline timeline({}, {{1, 2}}, {.quantum = 10, .gap = 0});
  EXPECT_EQ(First(timeline, 1), "0:0=1 ");
  timeline.Remove(2, 5);
  EXPECT_EQ(First(timeline, 1), "end") << "1 stays";
  timeline.Add(2, 1000);
  EXPECT_EQ(First(timeline, 3), "1000:0=2 1010:0=1 1020:0=2 ");
  timeline.Remove(2, 1025);
  EXPECT_EQ(First(timeline, 3), "1025:0=- 1025:0=1 end") << "2 leaves and 1 takes over at once";
}

TEST(RoundRobinTimelineTest, NobodyAnywhere) {
  RoundRobinTimeline timeline({}, {{}, {}}, {.quantum = 10, .gap = 1});
  EXPECT_EQ(First(timeline, 1), "end");
}

constexpr char kFolder[] = "deploy/examples";

std::set<std::string> Examples() {
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".yaml") paths.insert(entry.path().string());
  }
  return paths;
}

TEST(ExamplesTest, EachLoadsAndCanBeWired) {
  const auto examples = Examples();
  EXPECT_GE(examples.size(), 2u);
  for (const std::string& path : examples) {
    const auto file = LoadChipFile(path);
    ASSERT_TRUE(file.ok()) << file.status();
    const auto wiring = MakeWiring(*file);
    ASSERT_TRUE(wiring.ok()) << wiring.status();
    PipelineConfig config = file->pipeline;
    config.events = static_cast<uint32_t>(wiring->events.events().size());
    config.ccus = wiring->ccus;
    EXPECT_TRUE(Validate(config).ok()) << path << ": " << Validate(config);
  }
}

TEST(ExamplesTest, TheLargeOneIsAsLargeAsItSays) {
  const auto file = LoadChipFile(std::string(kFolder) + "/chip-large.yaml");
  ASSERT_TRUE(file.ok()) << file.status();
  const auto plan = PlanUnits(*file);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->ccus.size(), 64u + 8u) << "those of the file, and that of each slice's resident cycles";
  for (const CcuSpec& ccu : std::span(plan->ccus).first(64)) {
    ASSERT_EQ(ccu.ulcs.size(), 48u);
    for (const UlcSpec& ulc : ccu.ulcs) ASSERT_EQ(ulc.inputs.size(), 45u);
  }
}

}  // namespace

}  // namespace sideband::mcu

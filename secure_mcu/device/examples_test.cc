// SPDX-License-Identifier: Apache-2.0
// Every chip file of deploy/examples can be served.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <span>

#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/device/wiring.h"

namespace sideband::mcu {
namespace {

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

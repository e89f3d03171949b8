// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/loaded_text.h"

namespace sideband::mcu {
namespace {

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

}  // namespace
}  // namespace sideband::mcu

// SPDX-License-Identifier: Apache-2.0
#include "client/demo/board_device.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"

namespace sideband::client {
namespace {

constexpr char kBoardExample[] =
#include "client/demo/chip_board_yaml.inc"
    ;

TEST(BoardDeviceTest, TheBoardIsNoOtherDevice) {
  const std::string board = BoardChipFile(kBoardExample);
  for (const char* text : {"3e006", "SB-EMU-0006", "extension: off"})
    EXPECT_TRUE(absl::StrContains(board, text)) << text;
  for (const char* text : {"3e005", "SB-EMU-0005"}) EXPECT_FALSE(absl::StrContains(board, text)) << text;
}

TEST(BoardDeviceTest, ASensorThatIsMissingFails) {
  const DemoStep sensors = BoardSteps("gpu3", "tenant-a", {"1", "2"})[1];
  const std::string all =
      "sideband_temperature_celsius{device=\"gpu3\",sensor=\"gpu\"} 61.5\n"
      "sideband_temperature_margin_celsius{device=\"gpu3\",sensor=\"gpu\"} 28\n"
      "sideband_power_watts{device=\"gpu3\",sensor=\"total\"} 250\n"
      "sideband_power_limit_watts{device=\"gpu3\",kind=\"current\",sensor=\"total\"} 400\n";
  EXPECT_EQ(CheckStep(sensors, 0, all + "sideband_throttle_active{device=\"gpu3\",reason=\"sync_boost\"} 0\n"), "");
  EXPECT_NE(CheckStep(sensors, 0, all), "");
}

TEST(BoardDeviceTest, ATenantThatSeesTheBoardFails) {
  const DemoStep none = BoardSteps("gpu3", "tenant-a", {"1", "2"}).back();
  EXPECT_TRUE(absl::StrContains(none.command, "tenant-a.pem")) << none.command;
  EXPECT_EQ(CheckStep(none, 1, "0\n"), "");
  EXPECT_NE(CheckStep(none, 0, "1\n"), "");
}

}  // namespace
}  // namespace sideband::client

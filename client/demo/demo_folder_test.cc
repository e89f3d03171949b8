// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

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

constexpr char kRotatingExample[] =
#include "client/demo/chip_rotating_yaml.inc"
    ;

TEST(RotatingChipTest, EveryReplacementFindsItsTextInTheExample) {
  const std::string rotating = RotatingChipFile(kRotatingExample);
  for (const char* text : {"tensor_issued_cycles, of:", "{event: tensor_issued_cycles", "name: vm4", "name: vm5",
                           "lifetime: 1s", "counters: 6", "rotation:"}) {
    EXPECT_TRUE(absl::StrContains(rotating, text)) << text;
  }
}

TEST(RotatingChipTest, TheTwinHasTheSameWorkAndNoTurns) {
  const std::string rotating = RotatingChipFile(kRotatingExample), exact = ExactTwinFile(kRotatingExample);
  EXPECT_EQ(rotating.substr(rotating.find("\nvms:")), exact.substr(exact.find("\nvms:")));
  EXPECT_TRUE(absl::StrContains(exact, "tensor_issued_cycles, of:"));
  for (const char* text :
       {"counters: 6", "fixed:", "rotation:", "instructions:", "relations:", "is_sum_of", "period: 127", "3e004"}) {
    EXPECT_FALSE(absl::StrContains(exact, text)) << text;
  }
}

TEST(RotatingChipTest, ACountOutsideItsBoundsFails) {
  const DemoStep step = RotationSteps("gpu1", "gpu2").back();
  EXPECT_EQ(CheckStep(step, 0, "a  yes\n40 of 40 events within 10 % of the truth, 40 of 40 within their bounds"), "");
  EXPECT_NE(CheckStep(step, 0, "a  NO\n40 of 40 events within 10 % of the truth, 39 of 40 within their bounds"), "");
  EXPECT_NE(CheckStep(step, 0, ""), "");
}

class DemoFolderTest : public testing::Test {
 protected:
  // Restores TMPDIR for the other tests.
  ~DemoFolderTest() override { setenv("TMPDIR", testing::TempDir().c_str(), 1); }
};

TEST_F(DemoFolderTest, IsMadeBelowTmpdirAndRemoved) {
  setenv("TMPDIR", testing::TempDir().c_str(), 1);
  const auto folder = MakeDemoFolder();
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(std::filesystem::path(*folder).parent_path(),
            std::filesystem::path(testing::TempDir() + "/.").parent_path());
  EXPECT_EQ(std::filesystem::status(*folder).permissions(), std::filesystem::perms::owner_all);
  std::ofstream(*folder + "/operator.key") << "secret";
  RemoveDemoFolder(*folder);
  EXPECT_FALSE(std::filesystem::exists(*folder));
}

TEST_F(DemoFolderTest, ATmpdirThatIsNoFolderIsNamed) {
  setenv("TMPDIR", "/nope", 1);
  const auto folder = MakeDemoFolder();
  EXPECT_EQ(folder.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(folder.status().message().substr(0, 14), "TMPDIR=/nope: ");
}

TEST_F(DemoFolderTest, OnlyLogsAreKept) {
  setenv("TMPDIR", testing::TempDir().c_str(), 1);
  const auto folder = MakeDemoFolder();
  ASSERT_TRUE(folder.ok()) << folder.status();
  std::filesystem::create_directory(*folder + "/views");
  for (const char* name : {"sidebandd.log", "sideband-mcu.log", "operator.key", "ports", "views/vm1.sbv"}) {
    std::ofstream(*folder + "/" + name) << "x";
  }
  KeepOnlyLogs(*folder);
  int left = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    EXPECT_EQ(entry.path().extension(), ".log");
    ++left;
  }
  EXPECT_EQ(left, 2);
  RemoveDemoFolder(*folder);
}

}  // namespace

}  // namespace sideband::client

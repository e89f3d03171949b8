// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_site.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "proto/base/file.h"

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

TEST(ShellQuotedTest, OnlyWhatNeedsQuotesHasThem) {
  EXPECT_EQ(ShellQuoted("/tmp/a_site-1.d"), "/tmp/a_site-1.d");
  EXPECT_EQ(ShellQuoted("my site"), "'my site'");
  EXPECT_EQ(ShellQuoted("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuoted(""), "''");
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

TEST_F(DemoFolderTest, ABmcIsAddedToTheDaemonsConfiguration) {
  setenv("TMPDIR", testing::TempDir().c_str(), 1);
  const auto folder = MakeDemoFolder();
  ASSERT_TRUE(folder.ok()) << folder.status();
  const std::string path = *folder + "/sidebandd.yaml";
  EXPECT_EQ(AddBmc(*folder, "https://127.0.0.1:1", "secret").code(), absl::StatusCode::kNotFound);
  std::ofstream(path) << "state_dir: state\n";
  ASSERT_EQ(AddBmc(*folder, "https://127.0.0.1:1", "secret"), absl::OkStatus());
  EXPECT_EQ(*ReadFile(path),
            "state_dir: state\n"
            "bmcs:\n"
            "  - {name: bmc, url: 'https://127.0.0.1:1', ca_file: bmc-ca.pem, user: sideband, password_file: "
            "bmc.password, devices: {name: \"hgx-gpu{index}\"}}\n");
  EXPECT_EQ(*ReadFile(*folder + "/bmc.password", kFileSizeMax, FileTrust::kSecret), "secret\n");
  RemoveDemoFolder(*folder);
}

TEST(DemoWaveformTest, AShortOneIsWarnedOf) {
  EXPECT_EQ(WarningOfShortWaveform(100), "");
  EXPECT_EQ(WarningOfShortWaveform(3),
            "The waveform has 3 cycles, and repeats 333333 times a second: this may be too often for this machine. If "
            "the demo does not become ready, lengthen the waveform.\n");
}

}  // namespace
}  // namespace sideband::client

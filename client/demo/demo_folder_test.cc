// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace sideband::client {
namespace {

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

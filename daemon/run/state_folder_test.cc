// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/state_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace sideband::daemon {
namespace {

class StateFolderTest : public testing::Test {
 protected:
  StateFolderTest() { std::filesystem::create_directories(root_); }
  ~StateFolderTest() override { std::filesystem::remove_all(root_); }

  absl::StatusOr<std::string> Open(const std::string& configured = "") {
    return OpenStateFolder(configured, [this](const char* name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? nullptr : found->second.c_str();
    });
  }

  const std::string root_ = testing::TempDir() + "state_folder_test";
  std::map<std::string, std::string> variables_;
};

TEST_F(StateFolderTest, TheFirstThatSaysSomething) {
  variables_["HOME"] = root_;
  EXPECT_EQ(*Open(), root_ + "/.local/state/sideband");
  variables_["XDG_STATE_HOME"] = "relative";
  EXPECT_EQ(*Open(), root_ + "/.local/state/sideband");
  variables_["XDG_STATE_HOME"] = root_ + "/xdg";
  EXPECT_EQ(*Open(), root_ + "/xdg/sideband");
  variables_["STATE_DIRECTORY"] = root_ + "/first:" + root_ + "/second";
  EXPECT_EQ(*Open(), root_ + "/first");
  EXPECT_EQ(*Open(root_ + "/own/state"), root_ + "/own/state");
}

TEST_F(StateFolderTest, IsMadeForItsOwnerAlone) {
  struct stat status = {};
  ASSERT_TRUE(Open(root_ + "/state").ok());
  ASSERT_EQ(stat((root_ + "/state").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode, mode_t{S_IFDIR | 0700});
  EXPECT_TRUE(Open(root_ + "/state").ok()) << "where it is there already";
}

TEST_F(StateFolderTest, IsNoFolderOfOthers) {
  const std::string folder = root_ + "/state";
  ASSERT_TRUE(Open(folder).ok());
  for (const mode_t mode : {0777, 01777, 0702}) {
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    EXPECT_EQ(Open(folder).status(), absl::PermissionDeniedError(folder + ": other users may write to it (chmod o-w)"));
  }
  ASSERT_EQ(chmod(folder.c_str(), 0770), 0);
  EXPECT_TRUE(Open(folder).ok());
}

TEST_F(StateFolderTest, AHomeIsNotMade) {
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kNotFound);
  variables_["HOME"] = root_ + "/nonexistent";
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(root_ + "/nonexistent"));
}

TEST_F(StateFolderTest, WhatIsNoFolderIsAnError) {
  std::ofstream(root_ + "/file") << "text";
  const std::string must = ": Not a directory: state_dir must be a folder that the daemon's user may write to";
  EXPECT_EQ(Open(root_ + "/file/state").status().message(), root_ + "/file/state" + must);
}

}  // namespace
}  // namespace sideband::daemon

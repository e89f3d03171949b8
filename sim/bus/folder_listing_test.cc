// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/folder_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sideband::i2cdev {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FolderListingTest : public testing::Test {
 protected:
  FolderListingTest() {
    std::filesystem::create_directories(folder_ + "/below");
    std::ofstream(folder_ + "/i2c-3") << "its own";
  }
  ~FolderListingTest() override { std::filesystem::remove_all(folder_); }

  DIR* Open(const std::string& path) {
    DIR* const dir = opendir(path.c_str());
    listing_.Opened(dir);
    return dir;
  }
  void Close(DIR* dir) {
    listing_.Closed(dir);
    closedir(dir);
  }
  std::vector<std::string> Rest(DIR* dir) {
    std::vector<std::string> names;
    while (const dirent* const entry = listing_.Next(dir)) {
      EXPECT_EQ(entry->d_type, DT_CHR);
      EXPECT_NE(entry->d_ino, 0u);
      names.emplace_back(entry->d_name);
    }
    return names;
  }

  const std::string folder_ = testing::TempDir() + "folder_listing_test";
  FolderListing listing_{folder_, {"i2c-2", "i2c-3", "i2c-10"}};
};

TEST_F(FolderListingTest, ShowsItsNamesOnce) {
  DIR* const dir = Open(folder_);
  EXPECT_THAT(Rest(dir), ElementsAre("i2c-2", "i2c-3", "i2c-10"));
  EXPECT_THAT(Rest(dir), IsEmpty());
  Close(dir);
}

TEST_F(FolderListingTest, TheFolderIsKnownUnderAnyPath) {
  DIR* const dir = Open(folder_ + "/below/..");
  EXPECT_THAT(Rest(dir), ElementsAre("i2c-2", "i2c-3", "i2c-10"));
  Close(dir);
}

TEST_F(FolderListingTest, ANameThatTheFolderHasIsNotShownAgain) {
  DIR* const dir = Open(folder_);
  while (const dirent* const entry = readdir(dir)) listing_.Saw(dir, entry->d_name);
  EXPECT_THAT(Rest(dir), ElementsAre("i2c-2", "i2c-10"));
  Close(dir);
}

TEST_F(FolderListingTest, ARewoundListingBeginsAnew) {
  DIR* const dir = Open(folder_);
  Rest(dir);
  listing_.Rewound(dir);
  EXPECT_THAT(Rest(dir), ElementsAre("i2c-2", "i2c-3", "i2c-10"));
  Close(dir);
}

TEST_F(FolderListingTest, TwoListingsAreIndependent) {
  DIR* const first = Open(folder_);
  DIR* const second = Open(folder_);
  EXPECT_STREQ(listing_.Next(first)->d_name, "i2c-2");
  EXPECT_THAT(Rest(second), ElementsAre("i2c-2", "i2c-3", "i2c-10"));
  EXPECT_THAT(Rest(first), ElementsAre("i2c-3", "i2c-10"));
  Close(first);
  Close(second);
}

TEST_F(FolderListingTest, OtherFoldersHaveNothingMore) {
  DIR* const dir = Open(folder_ + "/below");
  EXPECT_THAT(Rest(dir), IsEmpty());
  Close(dir);
  listing_.Opened(nullptr);
}

TEST_F(FolderListingTest, AClosedOneIsForgotten) {
  DIR* const dir = Open(folder_);
  listing_.Closed(dir);
  EXPECT_THAT(Rest(dir), IsEmpty());
  closedir(dir);
}

}  // namespace
}  // namespace sideband::i2cdev

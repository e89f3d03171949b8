// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/replace_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "absl/strings/match.h"
#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

namespace fs = std::filesystem;

class ReplaceFileTest : public testing::TestWithParam<FileSync> {
 protected:
  ReplaceFileTest() { fs::create_directories(folder_); }
  ~ReplaceFileTest() override { fs::remove_all(folder_); }

  absl::Status Replace(const std::string& text) const { return ReplaceFile(path_, text, GetParam()); }

  const std::string folder_ = testing::TempDir() + "replace_file_test";
  const std::string path_ = folder_ + "/state";
};

INSTANTIATE_TEST_SUITE_P(Syncs, ReplaceFileTest, testing::Values(FileSync::kNone, FileSync::kSynced));

TEST_P(ReplaceFileTest, TheNewContentReplacesThePrevious) {
  ASSERT_TRUE(Replace("first, longer").ok());
  ASSERT_TRUE(Replace("second").ok());
  EXPECT_EQ(*ReadFile(path_), "second");
  EXPECT_FALSE(fs::exists(path_ + ".partial"));
}

TEST_P(ReplaceFileTest, TheFileIsItsOwnersAndNoLinkIsFollowed) {
  const std::string elsewhere = folder_ + "/elsewhere";
  fs::create_symlink(elsewhere, path_ + ".partial");
  fs::create_symlink(elsewhere, path_);
  ASSERT_TRUE(Replace("text").ok());
  EXPECT_FALSE(fs::exists(elsewhere));
  struct stat status = {};
  ASSERT_EQ(lstat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode, mode_t{S_IFREG | 0600});
}

TEST_P(ReplaceFileTest, AMissingFolderIsAnErrorWithThePath) {
  fs::remove_all(folder_);
  const absl::Status status = Replace("text");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StartsWith(status.message(), path_)) << status;
}

// A limit of the size of files stops a write as a full disk does: at any byte.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_ = {};
  void (*const handler_)(int);
};

TEST_P(ReplaceFileTest, AWriteThatFailsLeavesThePreviousContent) {
  ASSERT_TRUE(Replace("previous").ok());
  const std::string text(100, 'x');
  for (rlim_t limit = 0; limit < text.size(); ++limit) {
    absl::Status status;
    {
      const FileSizeLimit full(limit);
      status = Replace(text);
    }
    EXPECT_FALSE(status.ok()) << limit;
    EXPECT_EQ(*ReadFile(path_), "previous");
    EXPECT_FALSE(fs::exists(path_ + ".partial")) << limit;
  }
  EXPECT_TRUE(Replace(text).ok());
}

}  // namespace
}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/startup.h"

#include <gtest/gtest.h>
#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

std::string Line(LogFormat format, const std::string& text) {
  const spdlog::log_clock::time_point at(std::chrono::milliseconds(1'763'806'811'482));
  const spdlog::details::log_msg message(at, spdlog::source_loc{}, "", spdlog::level::warn, text);
  spdlog::memory_buf_t out;
  MakeLogFormatter(format)->clone()->format(message, out);
  return {out.data(), out.size()};
}

TEST(LogFormatterTest, EachFormatHasTheSameFields) {
  EXPECT_EQ(Line(LogFormat::kText, "device gpu0: away"), "2025-11-22T10:20:11.482Z warning device gpu0: away\n");
  EXPECT_EQ(Line(LogFormat::kLogfmt, "device gpu0: away"),
            "time=2025-11-22T10:20:11.482Z level=warning msg=\"device gpu0: away\"\n");
  EXPECT_EQ(Line(LogFormat::kJson, "device gpu0: away"),
            "{\"time\":\"2025-11-22T10:20:11.482Z\",\"level\":\"warning\",\"msg\":\"device gpu0: away\"}\n");
}

TEST(LogFormatterTest, WhatCouldEndAStringIsEscaped) {
  EXPECT_EQ(Line(LogFormat::kLogfmt, "a \"b\"\n\\c\xff"),
            "time=2025-11-22T10:20:11.482Z level=warning msg=\"a \\\"b\\\"\\\\x0a\\\\c\\\\xff\"\n");
}

TEST(LogFormatterTest, ATerminalInterpretsNothing) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kLogfmt, LogFormat::kJson}) {
    const std::string line = Line(format, "vm \x1b[2J\r\xE2\x80\xAE\xE2\x81\xA6");
    EXPECT_EQ(line.find_first_of("\x1b\r\xE2"), std::string::npos) << line;
  }
  EXPECT_EQ(Line(LogFormat::kText, "a\nb\x1b"), "2025-11-22T10:20:11.482Z warning a\\x0ab\\x1b\n");
}

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

class PortsFileTest : public testing::Test {
 protected:
  PortsFileTest() { std::filesystem::create_directory(folder_); }
  ~PortsFileTest() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = testing::TempDir() + "/ports_file_test";
  const std::string path_ = folder_ + "/ports";
};

TEST_F(PortsFileTest, NamesBothPorts) {
  ASSERT_TRUE(WritePortsFile(path_, 1, 65535).ok());
  EXPECT_EQ(*ReadFile(path_), "grpc: 1\nhttp: 65535\n");
  struct stat file;
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777, 0644u);
  ASSERT_TRUE(WritePortsFile(path_, 2, 3).ok()) << "again";
  EXPECT_EQ(*ReadFile(path_), "grpc: 2\nhttp: 3\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "nothing is left beside it";
}

TEST_F(PortsFileTest, FollowsNoLink) {
  std::ofstream(folder_ + "/victim") << "precious";
  for (const char* name : {"/ports.partial", "/ports"}) {
    ASSERT_EQ(symlink((folder_ + "/victim").c_str(), (folder_ + name).c_str()), 0);
  }
  ASSERT_TRUE(WritePortsFile(path_, 1, 2).ok());
  EXPECT_EQ(*ReadFile(folder_ + "/victim"), "precious");
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path_)));
}

TEST_F(PortsFileTest, AFailureLeavesNothing) {
  EXPECT_EQ(WritePortsFile(folder_ + "/absent/ports", 1, 2),
            absl::UnavailableError(folder_ + "/absent/ports: No such file or directory"));
  std::filesystem::create_directory(path_);
  EXPECT_EQ(WritePortsFile(path_, 1, 2).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_TRUE(WritePortsFile("", 1, 2).ok()) << "none is configured";
}

}  // namespace
}  // namespace sideband::daemon

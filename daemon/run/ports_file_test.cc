// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/ports_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

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

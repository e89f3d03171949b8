// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/unix_socket_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "daemon/base/socket_folder.h"

namespace sideband::daemon {
namespace {

namespace fs = std::filesystem;

class UnixSocketFileTest : public testing::Test {
 protected:
  mode_t Mode() const {
    struct stat file {};
    lstat(path_.c_str(), &file);
    return file.st_mode & 07777;
  }

  // Leaves a socket file behind, as a killed daemon does.
  void LeaveBehind() const {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{.sun_family = AF_UNIX};
    std::strcpy(address.sun_path, path_.c_str());
    ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    close(fd);
  }

  std::string Error() const { return std::string(UnixSocketFile::Listen(path_, {}).status().message()); }

  const SocketFolder folder_;
  const std::string path_ = folder_.path() + "/s";
};

TEST_F(UnixSocketFileTest, HasItsModeWhateverTheUmask) {
  const mode_t before = umask(0077);
  const auto socket = UnixSocketFile::Listen(path_, {.mode = 0660});
  umask(before);
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_EQ(Mode(), 0660u);
  EXPECT_TRUE(UnixSocketFile::Listen(folder_.path() + "/t", {.group = getegid()}).ok());
}

TEST_F(UnixSocketFileTest, IsRemovedAtTheEnd) {
  UnixSocketFile::Listen(path_, {}).IgnoreError();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(UnixSocketFileTest, AnothersNameIsNotRemoved) {
  auto first = UnixSocketFile::Listen(path_, {});
  fs::remove(path_);
  const auto second = UnixSocketFile::Listen(path_, {});
  ASSERT_TRUE(second.ok());
  first->reset();
  EXPECT_TRUE(fs::exists(path_));
}

TEST_F(UnixSocketFileTest, AStaleOneIsReplaced) {
  LeaveBehind();
  EXPECT_TRUE(UnixSocketFile::Listen(path_, {}).ok());
}

TEST_F(UnixSocketFileTest, OneInUseIsRefused) {
  const auto first = UnixSocketFile::Listen(path_, {});
  EXPECT_EQ(Error(), path_ + ": Address already in use");
  EXPECT_EQ(UnixSocketFile::Listen(path_, {}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(UnixSocketFileTest, WhatIsNoSocketIsLeftAlone) {
  std::ofstream(path_) << "mine";
  EXPECT_EQ(Error(), path_ + ": Address already in use");
  EXPECT_TRUE(fs::exists(path_));
  fs::remove(path_);
  fs::create_symlink(folder_.path() + "/elsewhere", path_);
  EXPECT_EQ(Error(), path_ + ": Address already in use");
}

TEST_F(UnixSocketFileTest, ErrorsNameThePath) {
  EXPECT_EQ(UnixSocketFile::Listen(folder_.path() + "/no/s", {}).status().message(),
            folder_.path() + "/no/s: No such file or directory");
  EXPECT_EQ(UnixSocketFile::Listen("/" + std::string(108, 'x'), {}).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sideband::daemon

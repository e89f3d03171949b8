// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/local_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>

#include "absl/synchronization/notification.h"
#include "daemon/listen/short_folder.h"

namespace sideband::daemon {
namespace {

using testing::HasSubstr;

// What the peer of `path` gets, one byte at most; -1 where it cannot connect.
int ReadOne(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX};
  std::strcpy(address.sun_path, path.c_str());
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return -1;
  char byte = 0;
  const ssize_t size = read(fd, &byte, 1);
  close(fd);
  return static_cast<int>(size);
}

class LocalListenerTest : public testing::Test {
 protected:
  LocalListenerTest() {
    chmod(folder_.path().c_str(), 0755);
    options_ = {.listener = "http", .path = folder_.path() + "/s"};
  }

  // Greets whom it is given.
  void Start() {
    auto listener = LocalListener::Listen(options_, *metrics_);
    ASSERT_TRUE(listener.ok()) << listener.status();
    listener_ = *std::move(listener);
    listener_->Start([this](int fd, const SocketPeer& peer) {
      user_ = peer.user;
      // Whoever only looks whether the path is in use has gone by now.
      send(fd, "!", 1, MSG_NOSIGNAL);
      close(fd);
    });
  }

  const ShortFolder folder_;
  LocalListener::Options options_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  std::unique_ptr<LocalListener> listener_;
  std::atomic<uint32_t> user_ = 99;
};

TEST_F(LocalListenerTest, TheDaemonsOwnUserEnters) {
  Start();
  EXPECT_EQ(ReadOne(options_.path), 1);
  EXPECT_EQ(user_, geteuid());
  EXPECT_EQ(ReadOne(options_.path), 1);
}

TEST_F(LocalListenerTest, StopRemovesTheFile) {
  Start();
  listener_->Stop();
  EXPECT_EQ(ReadOne(options_.path), -1);
  EXPECT_FALSE(std::filesystem::exists(options_.path));
  listener_->Stop();
}

TEST_F(LocalListenerTest, NeedNotBeStarted) { EXPECT_TRUE(LocalListener::Listen(options_, *metrics_).ok()); }

TEST_F(LocalListenerTest, TheFileIsOpenToThoseWhoAreNamed) {
  const auto mode = [&] {
    struct stat file {};
    stat(options_.path.c_str(), &file);
    return file.st_mode & 07777;
  };
  Start();
  EXPECT_EQ(mode(), 0600u);
  listener_->Stop();
  options_.operators.groups = {getegid()};
  Start();
  EXPECT_EQ(mode(), 0660u);
}

// Only root can become somebody else to try.
TEST_F(LocalListenerTest, SomebodyElseIsClosedAtOnce) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Start();
  ASSERT_EQ(chmod(options_.path.c_str(), 0666), 0);
  const auto as_user = [&](uid_t user) {
    const pid_t child = fork();
    if (child == 0) _exit(setresuid(user, user, user) != 0 ? 99 : ReadOne(options_.path));
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(as_user(54321), 0) << "not a byte";
  EXPECT_THAT(metrics_->Serialize(),
              HasSubstr("sideband_connections_refused_total{listener=\"http\",reason=\"not_a_local_operator\"} 1\n"));
  listener_->Stop();
  options_.operators.users = {54321};
  Start();
  ASSERT_EQ(chmod(options_.path.c_str(), 0666), 0);
  EXPECT_EQ(as_user(54321), 1);
  EXPECT_EQ(user_, 54321u);
}

TEST_F(LocalListenerTest, WhatCannotBeListenedOnIsSaidPlainly) {
  Start();
  EXPECT_EQ(LocalListener::Listen(options_, *metrics_).status().message(),
            "http: cannot listen on " + options_.path + ": Address already in use");
}

}  // namespace
}  // namespace sideband::daemon

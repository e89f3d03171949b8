// SPDX-License-Identifier: Apache-2.0
#include "proto/base/fake_unix_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "proto/base/wait_until.h"

namespace sideband {

FakeUnixServer::FakeUnixServer(std::string path, std::vector<Script> scripts) : path(std::move(path)) {
  std::filesystem::current_path(testing::TempDir());
  unlink(this->path.c_str());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, this->path.c_str(), sizeof(address.sun_path) - 1);
  listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(listen(listener_, 4), 0);
  thread_ = std::thread([listener = listener_, scripts = std::move(scripts)] {
    for (const Script& script : scripts) {
      const int fd = accept(listener, nullptr, nullptr);
      script(fd);
      close(fd);
    }
  });
}

FakeUnixServer::~FakeUnixServer() {
  const TimeLimit limit("the end of the scripts of " + path);
  thread_.join();
  close(listener_);
}

}  // namespace sideband

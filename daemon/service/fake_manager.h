// SPDX-License-Identifier: Apache-2.0
//
// A service manager for tests: the environment of this process and the end of the notify socket that a manager has.
//   FakeManager manager(absl::Seconds(6));
//   ServiceManager().Ready("good");
//   EXPECT_EQ(manager.Heard(), "READY=1\nSTATUS=good");
#ifndef SIDEBAND_DAEMON_SERVICE_FAKE_MANAGER_H_
#define SIDEBAND_DAEMON_SERVICE_FAKE_MANAGER_H_

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/file.h"

namespace sideband::daemon {

// One at a time: it changes the environment.
class FakeManager {
 public:
  explicit FakeManager(absl::Duration watchdog) {
    const std::string name = absl::StrCat("@sideband-notify-", getpid());
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);  // abstract: without a file
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) std::abort();
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    setenv("WATCHDOG_USEC", absl::StrCat(absl::ToInt64Microseconds(watchdog)).c_str(), 1);
  }
  ~FakeManager() {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
  }
  FakeManager(const FakeManager&) = delete;
  FakeManager& operator=(const FakeManager&) = delete;

  // The next message; empty if there is none.
  std::string Heard() const {
    char buffer[512];
    const ssize_t size = recv(socket_.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(buffer, static_cast<size_t>(size));
  }

 private:
  const Descriptor socket_{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SERVICE_FAKE_MANAGER_H_

// SPDX-License-Identifier: Apache-2.0
#include "daemon/service.h"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

// The names of the sockets, which are the descriptors from SD_LISTEN_FDS_START on.
absl::StatusOr<std::vector<std::string>> SocketNames() {
  char** names = nullptr;
  const int count = sd_listen_fds_with_names(/*unset_environment=*/1, &names);
  if (count < 0) return absl::InvalidArgumentError(absl::StrCat("inherited sockets: ", std::strerror(-count)));
  std::vector<std::string> found;
  for (int i = 0; i < count; ++i) {
    found.emplace_back(names[i]);
    std::free(names[i]);  // NOLINT: libsystemd's contract
  }
  std::free(names);  // NOLINT: libsystemd's contract
  return found;
}

bool IsListeningTcp(int fd) { return sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, /*listening=*/1, /*port=*/0) > 0; }

absl::Status Take(const std::string& name, int fd, InheritedSockets& sockets) {
  const auto error = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("the inherited socket '", name, "' ", why));
  };
  if (name != "http" && name != "grpc") return error("has another name than http and grpc (FileDescriptorName=)");
  if (!IsListeningTcp(fd)) return error("is not a listening TCP socket");
  int& place = name == "http" ? sockets.http : sockets.grpc;
  if (place >= 0) return error("was passed twice: one address (ListenStream=) for each name");
  place = fd;
  return absl::OkStatus();
}

// A manager that cannot be reached, or that has restarted, is no reason to stop serving.
void Notify(const std::string& state) { static_cast<void>(sd_notify(/*unset_environment=*/0, state.c_str())); }

// The manager's clock for the start of a reload.
int64_t MonotonicMicroseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::ToInt64Microseconds(absl::DurationFromTimespec(now));
}

}  // namespace

absl::StatusOr<InheritedSockets> TakeInheritedSockets() {
  const auto names = SocketNames();
  if (!names.ok()) return names.status();
  InheritedSockets sockets;
  int fd = SD_LISTEN_FDS_START;
  for (const std::string& name : *names) {
    if (const absl::Status status = Take(name, fd++, sockets); !status.ok()) return status;
  }
  return sockets;
}

ServiceManager::ServiceManager() {
  uint64_t microseconds = 0;
  if (sd_watchdog_enabled(/*unset_environment=*/0, &microseconds) > 0) {
    watchdog_ = absl::Microseconds(static_cast<int64_t>(microseconds));
  }
}

void ServiceManager::Ready(absl::string_view status) {
  status_ = std::string(status);
  Notify(absl::StrCat("READY=1\nSTATUS=", status));
}

void ServiceManager::Reloading() { Notify(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", MonotonicMicroseconds())); }

void ServiceManager::Stopping() { Notify("STOPPING=1\nSTATUS=Ending streams and answers"); }

void ServiceManager::SetStatus(absl::string_view status) {
  if (status == status_) return;
  status_ = std::string(status);
  Notify(absl::StrCat("STATUS=", status));
}

void ServiceManager::KeepAlive() {
  if (watchdog_ != absl::InfiniteDuration()) Notify("WATCHDOG=1");
}

absl::Duration Pulse::Feel(const Post& post) {
  if (is_posted_) return clock_.Steady() - posted_;
  posted_ = clock_.Steady();
  is_posted_ = true;
  post([this] { is_posted_ = false; });
  return absl::ZeroDuration();
}

absl::Duration Keeper::interval() const { return std::min(absl::Seconds(1), manager_.watchdog() / 3); }

bool Keeper::IsSilent(const Part& part) {
  const absl::Duration silence = part.silence();
  if (silence < manager_.watchdog() / 2) return false;
  if (silent_ != part.name) {
    spdlog::critical("{}: no progress for {}; the watchdog will restart the service", part.name,
                     absl::FormatDuration(absl::Trunc(silence, absl::Milliseconds(1))));
  }
  silent_ = part.name;
  return true;
}

void Keeper::Check() {
  // All are asked, so that each one's next task is posted.
  const auto silent = std::count_if(parts_.begin(), parts_.end(), [this](const Part& part) { return IsSilent(part); });
  if (silent > 0) return;
  silent_.clear();
  manager_.KeepAlive();
}

}  // namespace sideband::daemon

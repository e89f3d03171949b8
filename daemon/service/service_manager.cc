// SPDX-License-Identifier: Apache-2.0
#include "daemon/service/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <ctime>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

// A manager that cannot be reached, or that has restarted, is no reason to stop serving.
void Notify(const std::string& state) { static_cast<void>(sd_notify(/*unset_environment=*/0, state.c_str())); }

// The manager's clock for the start of a reload.
int64_t MonotonicMicroseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::ToInt64Microseconds(absl::DurationFromTimespec(now));
}

}  // namespace

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

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
//
// What the daemon tells the service manager, by systemd's notify protocol (sd_notify(3)). Without one, nothing happens.
//   ServiceManager manager;
//   manager.Ready("2 of 2 devices are fresh");
//   manager.KeepAlive();                 // every third of watchdog()
//   manager.Stopping();
#ifndef SIDEBAND_DAEMON_SERVICE_SERVICE_MANAGER_H_
#define SIDEBAND_DAEMON_SERVICE_SERVICE_MANAGER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// Used by one thread. The environment (NOTIFY_SOCKET, WATCHDOG_USEC) must not change.
class ServiceManager {
 public:
  ServiceManager();

  // The service is up, or has reloaded; `status` is the line that `systemctl status` shows.
  void Ready(absl::string_view status);
  void Reloading();
  void Stopping();
  // Sent only if it differs from the last one.
  void SetStatus(absl::string_view status);

  // The service is killed if KeepAlive() is not called for this long; infinite: no such limit.
  absl::Duration watchdog() const { return watchdog_; }
  void KeepAlive();

 private:
  absl::Duration watchdog_ = absl::InfiniteDuration();
  std::string status_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SERVICE_SERVICE_MANAGER_H_

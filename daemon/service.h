// SPDX-License-Identifier: Apache-2.0
//
// The daemon as a service of systemd: the sockets that the service manager has opened, what the daemon tells it by the
// notify protocol (sd_notify(3)), and the signs of life that its watchdog waits for. Without a service manager all of
// this does nothing.
//   SIDEBAND_ASSIGN_OR_RETURN(const InheritedSockets sockets, TakeInheritedSockets());
//   options.inherited_socket = sockets.http;
//   ServiceManager manager;
//   manager.Ready("2 of 2 devices are fresh");
//   manager.KeepAlive();                 // every third of watchdog()
//   manager.Stopping();
//   Pulse pulse(clock);
//   const absl::Duration silence = pulse.Feel([&](std::function<void()> task) { http->Post(std::move(task)); });
//   Keeper keeper(manager, {{"http", [&] { return pulse.Feel(post); }}});
//   keeper.Check();   // every keeper.interval(), on the main thread, whose own progress that shows
#ifndef SIDEBAND_DAEMON_SERVICE_H_
#define SIDEBAND_DAEMON_SERVICE_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"

namespace sideband::daemon {

// Listening sockets that the service manager has opened (socket activation, sd_listen_fds(3)): clients can connect
// before the daemon has started, and while it restarts. -1: none. The part that takes one closes it.
struct InheritedSockets {
  int http = -1;
  int grpc = -1;
};

// Takes the sockets named `http` and `grpc` (FileDescriptorName=). To be called once, before other threads start: it
// changes the environment. INVALID_ARGUMENT for a socket of another name or kind, or two of one name.
absl::StatusOr<InheritedSockets> TakeInheritedSockets();

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

// Whether the threads of a server still run the tasks that they are given.
//
// Feel() is called by one thread; tasks run on any. Must outlive the tasks.
class Pulse {
 public:
  using Post = std::function<void(std::function<void()> task)>;

  explicit Pulse(const Clock& clock) : clock_(clock) {}

  // Returns how long the task of an earlier call has not run; zero if it has, and posts the next one.
  absl::Duration Feel(const Post& post);

 private:
  const Clock& clock_;
  std::atomic<bool> is_posted_ = false;
  absl::Duration posted_;
};

// Keeps the service alive as long as all its parts make progress: a part that hangs lets the service manager's watchdog
// restart the service, which loses nothing that the devices hold.
//
// Used by one thread.
class Keeper {
 public:
  struct Part {
    std::string name;
    std::function<absl::Duration()> silence;  // how long the part has made no progress
  };

  // `manager` and what the parts refer to must outlive this object.
  Keeper(ServiceManager& manager, std::vector<Part> parts) : manager_(manager), parts_(std::move(parts)) {}

  // How often Check() is to be called: at least once a second, and three times within the watchdog's limit.
  absl::Duration interval() const;
  // Tells the service manager that the service is alive, unless a part has been silent for half of the watchdog's
  // limit; such a part is logged once.
  void Check();

 private:
  bool IsSilent(const Part& part);

  ServiceManager& manager_;
  const std::vector<Part> parts_;
  std::string silent_;  // the part that was logged
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SERVICE_H_

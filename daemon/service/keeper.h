// SPDX-License-Identifier: Apache-2.0
//
// Keeps the service alive as long as all its parts make progress: a part that hangs lets the service manager's watchdog
// restart the service, which loses nothing that the devices hold.
//   Keeper keeper(manager, {{"http", [&] { return pulse.Feel(post); }}});
//   keeper.Check();   // every keeper.interval(), on the main thread, whose own progress that shows
#ifndef SIDEBAND_DAEMON_SERVICE_KEEPER_H_
#define SIDEBAND_DAEMON_SERVICE_KEEPER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/service/service_manager.h"

namespace sideband::daemon {

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

#endif  // SIDEBAND_DAEMON_SERVICE_KEEPER_H_

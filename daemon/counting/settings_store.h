// SPDX-License-Identifier: Apache-2.0
//
// Where the callers' settings of a device outlast the daemon.
//   const auto settings = store.Load(uuid);                  // NOT_FOUND: none were ever stored
//   SIDEBAND_RETURN_IF_ERROR(store.Save(uuid, *settings));
#ifndef SIDEBAND_DAEMON_COUNTING_SETTINGS_STORE_H_
#define SIDEBAND_DAEMON_COUNTING_SETTINGS_STORE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/counting/settings.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

// Used by one thread at a time.
class SettingsStore {
 public:
  virtual ~SettingsStore() = default;

  // NOT_FOUND if nothing is stored; another error if what is stored cannot be read.
  virtual absl::StatusOr<CountingSettings> Load(const Uuid& device) = 0;
  // Replaces what is stored. `settings` name VMs by UUID. After an error the previous settings are stored.
  virtual absl::Status Save(const Uuid& device, const CountingSettings& settings) = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_SETTINGS_STORE_H_

// SPDX-License-Identifier: Apache-2.0
//
// A SettingsStore in memory. While an error is set, it fails as a disk does.
//   FakeSettingsStore store;
//   store.write_error = absl::ResourceExhaustedError("No space left on device");
#ifndef SIDEBAND_DAEMON_COUNTING_FAKE_SETTINGS_STORE_H_
#define SIDEBAND_DAEMON_COUNTING_FAKE_SETTINGS_STORE_H_

#include <map>

#include "daemon/counting/settings_store.h"

namespace sideband::daemon {

class FakeSettingsStore final : public SettingsStore {
 public:
  absl::StatusOr<CountingSettings> Load(const Uuid& device) override {
    if (!read_error.ok()) return read_error;
    const auto found = stored.find(device);
    if (found == stored.end()) return absl::NotFoundError("nothing is stored");
    return found->second;
  }
  absl::Status Save(const Uuid& device, const CountingSettings& settings) override {
    ++saves;
    if (write_error.ok()) stored[device] = settings;
    return write_error;
  }

  std::map<Uuid, CountingSettings> stored;
  absl::Status read_error, write_error;
  int saves = 0;  // attempts
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_FAKE_SETTINGS_STORE_H_

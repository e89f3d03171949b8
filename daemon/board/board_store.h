// SPDX-License-Identifier: Apache-2.0
//
// How the board of each device is to be read, and its newest reading: written by reloads and collectors, read by
// servers.
//   boards.SetSettings(device, {.is_read = true});            // at the start, and when the configuration changes
//   boards.Publish(device, reader.reading());                 // the collector's thread
//   if (const auto reading = boards.Newest(device)) Show(*reading);
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_STORE_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_STORE_H_

#include <cstddef>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_settings.h"

namespace sideband::daemon {

// Thread-safe.
class BoardStore {
 public:
  // Of a device without settings, the default.
  BoardSettings SettingsOf(size_t device) const;
  void SetSettings(size_t device, const BoardSettings& settings);
  // nullptr before the first reading, and for a removed device. It stays valid while the caller holds it.
  std::shared_ptr<const BoardReading> Newest(size_t device) const;
  void Publish(size_t device, std::shared_ptr<const BoardReading> reading);
  // Drops everything of a device: its board is no longer read, or it was removed.
  void Forget(size_t device);

 private:
  // Held only to copy or swap.
  mutable absl::Mutex mu_;
  absl::flat_hash_map<size_t, BoardSettings> settings_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<size_t, std::shared_ptr<const BoardReading>> newest_ ABSL_GUARDED_BY(mu_);  // shared with readers
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_STORE_H_

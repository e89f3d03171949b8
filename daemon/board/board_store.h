// SPDX-License-Identifier: Apache-2.0
//
// How the board of each device is to be read, and its newest reading: written by reloads and collectors, read by
// servers.
//   boards.SetSettings(device, {.is_read = true});            // at the start, and when the configuration changes
//   boards.Publish(device, reader.reading());                 // the collector's thread
//   if (const auto reading = boards.Newest(device)) Show(*reading);
//   boards.AddListener(history);                              // sees each reading from then on
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_STORE_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_STORE_H_

#include <cstddef>
#include <memory>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_settings.h"

namespace sideband::daemon {

// Called for each reading that is published, on the collector's thread. OnPublish must return at once and must not call
// the store's AddListener, RemoveListener, Publish or Forget.
class BoardListener {
 public:
  virtual ~BoardListener() = default;
  virtual void OnPublish(size_t device, const std::shared_ptr<const BoardReading>& reading) = 0;
};

// Thread-safe.
class BoardStore {
 public:
  // Of a device without settings, the default.
  BoardSettings SettingsOf(size_t device) const;
  void SetSettings(size_t device, const BoardSettings& settings);
  // nullptr before the first reading, and for a removed device. It stays valid while the caller holds it.
  std::shared_ptr<const BoardReading> Newest(size_t device) const;
  // Does nothing unless the board is to be read: a collector may learn late that it is not.
  void Publish(size_t device, std::shared_ptr<const BoardReading> reading);
  // Drops everything of a device: its board is no longer read, or it was removed. After that, no listener is called for
  // it until it has settings.
  void Forget(size_t device);

  // `listener` is called for readings until RemoveListener returns; a call may be in progress until then.
  void AddListener(BoardListener& listener);
  void RemoveListener(BoardListener& listener);

 private:
  // Held only to copy or swap.
  mutable absl::Mutex mu_;
  absl::flat_hash_map<size_t, BoardSettings> settings_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<size_t, std::shared_ptr<const BoardReading>> newest_ ABSL_GUARDED_BY(mu_);  // shared with readers
  // Held while a reading is published, with the calls of listeners. It is acquired before mu_.
  absl::Mutex publishing_mu_ ABSL_ACQUIRED_BEFORE(mu_);
  std::set<BoardListener*> listeners_ ABSL_GUARDED_BY(publishing_mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_STORE_H_

// SPDX-License-Identifier: Apache-2.0
//
// The newest snapshot of every device, published by collectors and read by servers.
//   store.Publish(0, snapshot);                                  // collector thread
//   if (const auto newest = store.Newest(0)) Render(*newest);    // any reader, without waiting
//   PublicationThread refresh(store, [&] { site.RefreshExpositions(); });
//   refresh.Start();
#ifndef SIDEBAND_DAEMON_SNAPSHOT_STORE_H_
#define SIDEBAND_DAEMON_SNAPSHOT_STORE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {

// Called for each publication, on the collector's thread. OnPublish must return at once and must not call the store's
// AddListener or RemoveListener.
class PublicationListener {
 public:
  virtual ~PublicationListener() = default;
  virtual void OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) = 0;
};

// A device of the store. Its id is never given to another device in a run of the daemon, not even after its removal.
struct StoredDevice {
  size_t id = 0;
  std::shared_ptr<const DeviceInfo> info;  // shared with its readers; a change makes another DeviceInfo
};
using DeviceList = std::vector<StoredDevice>;

// Thread-safe.
class Store {
 public:
  // The devices get the ids 0, 1, 2, …
  explicit Store(std::vector<DeviceInfo> devices);

  // The current devices, in the configuration's order. Immutable. A loop over them must hold the pointer in a variable.
  std::shared_ptr<const DeviceList> devices() const;
  std::optional<size_t> FindDevice(absl::string_view name) const;
  // nullptr for a removed device.
  std::shared_ptr<const DeviceInfo> Info(size_t device) const;

  // An id for a new device.
  size_t NewId();
  // Replaces the devices. A device whose id was in the store keeps its snapshot; the snapshots of removed devices are
  // dropped.
  void SetDevices(DeviceList devices);

  // nullptr before the first publication, and for a removed device. The snapshot stays valid while the caller holds it.
  std::shared_ptr<const DeviceSnapshot> Newest(size_t device) const;
  // Drops the snapshot of a removed device.
  void Publish(size_t device, std::shared_ptr<const DeviceSnapshot> snapshot);

  // `listener` is called for publications until RemoveListener returns; a call may be in progress until then.
  void AddListener(PublicationListener& listener);
  void RemoveListener(PublicationListener& listener);

 private:
  // Held only to copy or swap pointers.
  mutable absl::Mutex mu_;
  std::shared_ptr<const DeviceList> devices_ ABSL_GUARDED_BY(mu_);  // shared with readers
  absl::flat_hash_map<size_t, std::shared_ptr<const DeviceSnapshot>> newest_ ABSL_GUARDED_BY(mu_);  // by id
  size_t next_id_ ABSL_GUARDED_BY(mu_) = 0;
  // Held while listeners are called, so that a removed listener is never called again.
  absl::Mutex listeners_mu_;
  std::set<PublicationListener*> listeners_ ABSL_GUARDED_BY(listeners_mu_);
};

// Runs work after publications, on a thread of its own instead of the collectors' threads.
//
// Start and Stop are called from one thread; `store` must outlive it. `work` runs on the thread only, and once more
// after publications during its run. It must not stop the thread.
class PublicationThread final : public PublicationListener {
 public:
  PublicationThread(Store& store, std::function<void()> work);
  // Calls Stop().
  ~PublicationThread() override;

  void Start();
  // Waits for work in progress.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

  void OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) override
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // False once Stop() was called.
  bool WaitForNews() ABSL_LOCKS_EXCLUDED(mu_);
  bool HasNews() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return has_news_ || is_stopping_; }

  Store& store_;
  const std::function<void()> work_;
  absl::Mutex mu_;
  bool has_news_ ABSL_GUARDED_BY(mu_) = false;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_STORE_H_

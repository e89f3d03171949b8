// SPDX-License-Identifier: Apache-2.0
//
// The newest snapshot of every device: where collectors and readers meet.
//   store.Publish(0, snapshot);                                  // collector thread
//   if (const auto newest = store.Newest(0)) Render(*newest);    // any reader, without waiting
#ifndef SIDEBAND_DAEMON_STORE_STORE_H_
#define SIDEBAND_DAEMON_STORE_STORE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/model/device_snapshot.h"

namespace sideband::daemon {

// Told of each publication, on the collector's thread: it must return at once and must not call the store's
// AddListener or RemoveListener.
class PublicationListener {
 public:
  virtual ~PublicationListener() = default;
  virtual void OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) = 0;
};

// Thread-safe.
class Store {
 public:
  // The set of devices is fixed.
  explicit Store(std::vector<DeviceInfo> devices);

  const std::vector<DeviceInfo>& devices() const { return devices_; }
  std::optional<size_t> FindDevice(absl::string_view name) const;

  // nullptr before the first publication. The snapshot stays valid for as long as the caller holds it.
  std::shared_ptr<const DeviceSnapshot> Newest(size_t device) const;
  void Publish(size_t device, std::shared_ptr<const DeviceSnapshot> snapshot);

  // `listener` is told of publications until RemoveListener returns; a call may still be under way until then.
  void AddListener(PublicationListener& listener);
  void RemoveListener(PublicationListener& listener);

 private:
  const std::vector<DeviceInfo> devices_;
  // Held only to copy or swap pointers.
  mutable absl::Mutex mu_;
  std::vector<std::shared_ptr<const DeviceSnapshot>> newest_ ABSL_GUARDED_BY(mu_);
  // Held while listeners are told, so that one that was removed is never told again.
  absl::Mutex listeners_mu_;
  std::set<PublicationListener*> listeners_ ABSL_GUARDED_BY(listeners_mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STORE_STORE_H_

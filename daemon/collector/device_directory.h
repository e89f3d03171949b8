// SPDX-License-Identifier: Apache-2.0
//
// What serves each device, for callers on any thread, while devices come and go with reloads.
//   DeviceDirectory<DevicePeeks> devices;
//   devices.Add(device, peeks);
//   if (const auto use = devices.Use(device)) use->Ask(query, done);   // without a lock
//   devices.Remove(device);                                            // waits until each use has ended
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_DIRECTORY_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_DIRECTORY_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace sideband::daemon {

// Thread-safe. Must outlive its uses.
template <typename Served>
class DeviceDirectory {
 public:
  // `served` is used until Remove returns.
  void Add(size_t device, Served& served) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    devices_[device] = std::make_unique<Entry>(&served);
  }

  // Not to be called by a thread that uses the device.
  void Remove(size_t device) ABSL_LOCKS_EXCLUDED(mu_) {
    std::unique_ptr<Entry> removed;
    absl::MutexLock lock(&mu_);
    const auto found = devices_.find(device);
    if (found == devices_.end()) return;
    removed = std::move(found->second);
    devices_.erase(found);  // no use begins any more
    mu_.Await(absl::Condition(
        +[](Entry* entry) { return entry->uses == 0; }, removed.get()));
  }

 private:
  struct Entry {
    explicit Entry(Served* served) : served(served) {}
    Served* const served;
    size_t uses = 0;  // guarded by the directory's mu_
  };

 public:
  // Empty if the device is not served.
  class Using {
   public:
    Using(DeviceDirectory& directory, Entry* entry) : directory_(directory), entry_(entry) {}
    Using(const Using&) = delete;
    Using& operator=(const Using&) = delete;
    ~Using() {
      if (entry_ != nullptr) directory_.EndUse(*entry_);
    }

    explicit operator bool() const { return entry_ != nullptr; }
    Served* operator->() const { return entry_->served; }

   private:
    DeviceDirectory& directory_;
    Entry* const entry_;
  };

  Using Use(size_t device) ABSL_LOCKS_EXCLUDED(mu_) { return Using(*this, BeginUse(device)); }

 private:
  Entry* BeginUse(size_t device) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto found = devices_.find(device);
    if (found == devices_.end()) return nullptr;
    ++found->second->uses;
    return found->second.get();
  }

  void EndUse(Entry& entry) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    --entry.uses;
  }

  absl::Mutex mu_;
  absl::flat_hash_map<size_t, std::unique_ptr<Entry>> devices_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_DIRECTORY_H_

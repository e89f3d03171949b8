// SPDX-License-Identifier: Apache-2.0
//
// Views, computed once per (policy version, topology, group of principals).
//   ViewCache cache(listener);
//   const std::shared_ptr<const View> view = cache.Get(device, policy, principal, snapshot->topology);
#ifndef SIDEBAND_DAEMON_VIEW_VIEW_CACHE_H_
#define SIDEBAND_DAEMON_VIEW_VIEW_CACHE_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/view/decision_log.h"
#include "daemon/view/view.h"

namespace sideband::daemon {

// Called for each view that is computed and cached, on the thread that requested it. Must be thread-safe.
class ViewListener {
 public:
  virtual ~ViewListener() = default;
  // False where the view could not be audited. The cache then drops the view, and the next request for it calls again.
  virtual bool OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
                      const DecisionLog& decisions) = 0;
};

// Thread-safe. Holds one view per device and group, the most recently requested. Older views live while readers hold
// them.
class ViewCache {
 public:
  // `listener` must outlive the cache.
  explicit ViewCache(ViewListener& listener) : listener_(listener) {}

  // `principal` must be from `policy`; `topology` must be the device's.
  std::shared_ptr<const View> Get(size_t device, const VersionedPolicy& policy, const Principal& principal,
                                  std::shared_ptr<const Topology> topology);

 private:
  struct Entry {
    uint64_t policy_version = 0;
    std::shared_ptr<const View> view;  // shared with readers and their caches
  };
  using Key = std::pair<size_t, size_t>;  // device, group

  std::shared_ptr<const View> Find(const Key& key, uint64_t policy_version, const Topology* topology)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns `made`, or the view that another thread has cached meanwhile.
  std::shared_ptr<const View> Keep(const Key& key, uint64_t policy_version, std::shared_ptr<const View> made);
  void Drop(const Key& key, const View* view);

  ViewListener& listener_;

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;  // the newest seen
  absl::flat_hash_map<Key, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_VIEW_CACHE_H_

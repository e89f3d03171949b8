// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/view_cache.h"

#include <utility>

namespace sideband::daemon {

std::shared_ptr<const View> ViewCache::Find(const Key& key, uint64_t policy_version, const Topology* topology) {
  const auto found = entries_.find(key);
  // A view holds its topology, so that the address is not reused.
  const bool current = found != entries_.end() && found->second.policy_version == policy_version &&
                       found->second.view->topology().get() == topology;
  return current ? found->second.view : nullptr;
}

std::shared_ptr<const View> ViewCache::Keep(const Key& key, uint64_t policy_version, std::shared_ptr<const View> made) {
  absl::MutexLock lock(&mu_);
  if (auto view = Find(key, policy_version, made->topology().get())) return view;
  if (policy_version < policy_version_) return made;  // from a late reader of a replaced policy; not cached
  if (policy_version > policy_version_) entries_.clear();
  policy_version_ = policy_version;
  entries_.insert_or_assign(key, Entry{policy_version, made});
  return made;
}

void ViewCache::Drop(const Key& key, const View* view) {
  absl::MutexLock lock(&mu_);
  const auto found = entries_.find(key);
  // Another thread may have replaced the view meanwhile.
  if (found != entries_.end() && found->second.view.get() == view) entries_.erase(found);
}

std::shared_ptr<const View> ViewCache::Get(size_t device, const VersionedPolicy& policy, const Principal& principal,
                                           std::shared_ptr<const Topology> topology) {
  const Key key(device, principal.group());
  {
    absl::MutexLock lock(&mu_);
    if (auto view = Find(key, policy.version, topology.get())) return view;
  }
  // Computed without the lock, since it may take long. A view that is computed twice does no harm.
  DecisionLog decisions;
  const auto made = std::make_shared<const View>(*policy.policy, principal, std::move(topology), &decisions);
  auto kept = Keep(key, policy.version, made);
  // Only the thread whose view was cached has it audited.
  if (kept == made && !listener_.OnView(device, policy, principal, decisions)) Drop(key, made.get());
  return kept;
}

}  // namespace sideband::daemon

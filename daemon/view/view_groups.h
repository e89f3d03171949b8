// SPDX-License-Identifier: Apache-2.0
//
// One object for each group of callers that see the same data, under one policy.
//   ViewGroups<Kept> groups;
//   const std::shared_ptr<Kept> kept = groups.Find(caller);
#ifndef SIDEBAND_DAEMON_VIEW_VIEW_GROUPS_H_
#define SIDEBAND_DAEMON_VIEW_VIEW_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

// Thread-safe; `Kept` must synchronise itself. It is made as Kept(caller), by the first caller of its group.
template <typename Kept>
class ViewGroups {
 public:
  // A caller that was authenticated under an older policy gets one of its own.
  std::shared_ptr<Kept> Find(const Caller& caller) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (caller.policy.version < policy_version_) return std::make_shared<Kept>(caller);
    // Group numbers are valid under one policy only.
    if (caller.policy.version > policy_version_) groups_.clear();
    policy_version_ = caller.policy.version;
    auto& kept = groups_[caller.principal.group()];
    if (kept == nullptr) kept = std::make_shared<Kept>(caller);
    return kept;
  }

  // The objects of all groups; none if they belong to another policy.
  std::vector<std::shared_ptr<Kept>> All(uint64_t policy_version) const ABSL_LOCKS_EXCLUDED(mu_) {
    std::vector<std::shared_ptr<Kept>> all;
    absl::MutexLock lock(&mu_);
    if (policy_version_ != policy_version) return all;
    for (const auto& [number, kept] : groups_) all.push_back(kept);
    return all;
  }

 private:
  mutable absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<size_t, std::shared_ptr<Kept>> groups_ ABSL_GUARDED_BY(mu_);  // shared with who uses them
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_VIEW_GROUPS_H_

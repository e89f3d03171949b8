// SPDX-License-Identifier: Apache-2.0
//
// Tells the audit log what each group may see of each device, when that is worked out.
//   ViewAuditor auditor(store.devices(), audit);
//   ViewCache views(&auditor);
#ifndef SIDEBAND_DAEMON_API_VIEW_AUDITOR_H_
#define SIDEBAND_DAEMON_API_VIEW_AUDITOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/view_cache.h"
#include "daemon/store/store.h"

namespace sideband::daemon {

// Thread-safe. Views are made anew whenever a context comes or goes; one with the same outcomes under the same policy
// as the last one of its group and device is not told again. One for which the log had no room is told when it is made
// again. Bounded: one outcome of each device and group, and kOutcomesMax of past ones.
class ViewAuditor final : public ViewListener {
 public:
  // Both must outlive it.
  ViewAuditor(const std::vector<DeviceInfo>& devices, AuditSink& audit) : devices_(devices), audit_(audit) {}

  bool OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
              const DecisionLog& decisions) override;
  // The view of a topology that may be past: told unless one with the same outcomes was, in the present or the past.
  void OnPastView(const DeviceInfo& device, const VersionedPolicy& policy, const Principal& principal,
                  const DecisionLog& decisions);

 private:
  using Key = std::pair<size_t, size_t>;  // device, group
  static constexpr size_t kOutcomesMax = 4096;

  // False: there was no room for all of it.
  bool Tell(const std::string& device, const VersionedPolicy& policy, const Principal& principal,
            const std::vector<std::string>& texts, const std::string& why);
  // False under a policy that has been replaced meanwhile: what is told then is not remembered.
  bool Enter(uint64_t policy_version) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsNews(const Key& key, uint64_t policy_version, const std::string& outcome);
  bool IsNewsOfThePast(uint64_t policy_version, const std::string& outcome);
  // `key` is nullptr for the past.
  void Remember(const Key* key, uint64_t policy_version, const std::string& outcome);

  const std::vector<DeviceInfo>& devices_;
  AuditSink& audit_;

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;                 // the newest seen
  absl::flat_hash_map<Key, std::string> told_ ABSL_GUARDED_BY(mu_);  // the last outcomes under it, as hashes
  absl::flat_hash_set<std::string> told_ever_ ABSL_GUARDED_BY(mu_);  // likewise, those before and past ones, too
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_API_VIEW_AUDITOR_H_

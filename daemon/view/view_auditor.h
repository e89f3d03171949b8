// SPDX-License-Identifier: Apache-2.0
//
// Writes the decisions behind each view to the audit log when the view is computed.
//   ViewAuditor auditor(store, audit);
//   ViewCache views(auditor);
#ifndef SIDEBAND_DAEMON_VIEW_VIEW_AUDITOR_H_
#define SIDEBAND_DAEMON_VIEW_VIEW_AUDITOR_H_

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
#include "daemon/snapshot/store.h"
#include "daemon/view/view_cache.h"

namespace sideband::daemon {

// Thread-safe. A view is recomputed whenever a context appears or disappears. It is audited again only if its outcomes
// or the policy differ from those of the last view of its group and device, or if the log did not accept the last view.
// Memory is bounded: one outcome per device and group, and kOutcomesMax past outcomes.
class ViewAuditor final : public ViewListener {
 public:
  // `store` and `audit` must outlive the auditor.
  ViewAuditor(const Store& store, AuditSink& audit) : store_(store), audit_(audit) {}

  bool OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
              const DecisionLog& decisions) override;
  // For the view of a topology that may be past. Audited unless a present or past view with the same outcomes was
  // audited.
  void OnPastView(const DeviceInfo& device, const VersionedPolicy& policy, const Principal& principal,
                  const DecisionLog& decisions);

 private:
  using Key = std::pair<size_t, size_t>;  // device, group
  static constexpr size_t kOutcomesMax = 4096;

  // False where the log did not accept all entries.
  bool Audit(const std::string& device, const VersionedPolicy& policy, const Principal& principal,
             const std::vector<std::string>& texts, const std::string& why);
  // False under a policy that has been replaced. Its outcomes are not remembered.
  bool Enter(uint64_t policy_version) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsNews(const Key& key, uint64_t policy_version, const std::string& outcome);
  bool IsNewsOfThePast(uint64_t policy_version, const std::string& outcome);
  // `key` is nullptr for a past view.
  void Remember(const Key* key, uint64_t policy_version, const std::string& outcome);

  const Store& store_;
  AuditSink& audit_;

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;                 // the newest seen
  absl::flat_hash_map<Key, std::string> told_ ABSL_GUARDED_BY(mu_);  // hashes of the last outcomes under it
  absl::flat_hash_set<std::string> told_ever_ ABSL_GUARDED_BY(mu_);  // likewise of all outcomes, past views included
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_VIEW_AUDITOR_H_

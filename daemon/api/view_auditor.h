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
#include "absl/synchronization/mutex.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/view_cache.h"
#include "daemon/store/store.h"

namespace sideband::daemon {

// Thread-safe. Views are made anew whenever a context comes or goes; one with the same outcomes under the same policy
// as the last one of its group and device is not told again.
class ViewAuditor final : public ViewListener {
 public:
  // Both must outlive it.
  ViewAuditor(const std::vector<DeviceInfo>& devices, AuditSink& audit) : devices_(devices), audit_(audit) {}

  void OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
              const DecisionLog& decisions) override;

 private:
  using Key = std::pair<size_t, size_t>;  // device, group

  bool IsNews(const Key& key, uint64_t policy_version, const std::string& outcome);

  const std::vector<DeviceInfo>& devices_;
  AuditSink& audit_;

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;                 // the newest seen
  absl::flat_hash_map<Key, std::string> told_ ABSL_GUARDED_BY(mu_);  // hashes of outcomes under it
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_API_VIEW_AUDITOR_H_

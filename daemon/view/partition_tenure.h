// SPDX-License-Identifier: Apache-2.0
//
// Since when each partition of a board has been its tenant's. A partition has a number and no UUID: what the history
// has of a number from before may be another tenant's.
//   const PartitionTenure tenure(policy_holder, history);
//   const bool is_own = chunk.newest > tenure.Since(caller.policy.version, "gpu0", /*partition=*/2);
#ifndef SIDEBAND_DAEMON_VIEW_PARTITION_TENURE_H_
#define SIDEBAND_DAEMON_VIEW_PARTITION_TENURE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/sensor_history/sensor_history.h"

namespace sideband::daemon {

// Follows the policy in force. Thread-safe; the constructor's arguments must outlive it.
class PartitionTenure final : private PolicyListener {
 public:
  PartitionTenure(PolicyHolder& policy, SensorHistory& history);
  ~PartitionTenure() override;

  // The place in the history (SensorChunkView::newest) up to which the partition was not its tenant's, by this version
  // of the policy. 0: its tenant has had it since the start of the daemon. The greatest number: it has no tenant, or
  // the version is not the one that is followed, so nothing is known to be its tenant's.
  uint64_t Since(uint64_t version, const std::string& device, uint8_t partition) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using Partition = std::pair<std::string, uint8_t>;  // of a device
  struct Tenancy {
    std::string tenant;  // its name
    uint64_t since = 0;
  };
  using Tenancies = std::map<Partition, Tenancy>;

  static Tenancies TenanciesOf(const Policy& policy);
  void OnPolicyChange() override ABSL_LOCKS_EXCLUDED(mu_);

  PolicyHolder& policy_;
  SensorHistory& history_;
  mutable absl::Mutex mu_;
  uint64_t version_ ABSL_GUARDED_BY(mu_) = 0;
  Tenancies tenancies_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_PARTITION_TENURE_H_

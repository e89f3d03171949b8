// SPDX-License-Identifier: Apache-2.0
//
// Since when VMs, partitions and devices have been their tenants'. What is known of them from before is their last
// tenants': the history, marks, and what a resumed stream replays. A tenure begins with the reload that grants the VM,
// partition or device to its tenant, with the start of the daemon, or where the policy says `since:`.
//   const VmTenures tenures = reader.TenuresOf(caller);
//   if (tenures.IsOwn(vm.uuid, mark.begun)) Show(mark);
#ifndef SIDEBAND_DAEMON_VIEW_TENURE_H_
#define SIDEBAND_DAEMON_VIEW_TENURE_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/history/sensor_history.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

// The tenures of one caller's VMs. Instants are of the host's steady clock: no step of the wall clock moves them.
class VmTenures {
 public:
  // `since` has the VMs whose past is not all the caller's.
  explicit VmTenures(std::map<Uuid, absl::Duration> since = {}) : since_(std::move(since)) {}

  // Whether what was latched, or asked for, at that instant is the caller's.
  bool IsOwn(const Uuid& vm, absl::Duration steady) const { return steady > Since(vm); }
  // Minus infinity: ever.
  absl::Duration Since(const Uuid& vm) const {
    const auto found = since_.find(vm);
    return found == since_.end() ? -absl::InfiniteDuration() : found->second;
  }
  // The VMs that were not the caller's at that instant.
  std::set<Uuid> ForeignAt(absl::Duration steady) const;

 private:
  std::map<Uuid, absl::Duration> since_;
};

// The part of the history of sensors that a tenure of a device, or of a board's partition, covers: chunks whose
// SensorChunkView::newest is greater than `place`, and in these the values that were read at `time` or later. By
// default nothing.
struct BoardTenure {
  uint64_t place = std::numeric_limits<uint64_t>::max();
  absl::Time time = absl::InfinitePast();
  absl::Duration steady = absl::InfiniteDuration();  // what was measured until then is not the tenant's
};

// Follows the policy in force. Thread-safe; the constructor's arguments must outlive it.
class Tenures final : private PolicyListener {
 public:
  Tenures(PolicyHolder& policy, const Clock& clock);
  ~Tenures() override;

  // From now on a new tenure of a device or a partition cuts the history, so that no chunk has frames from both before
  // and after. Without a history no such tenure begins at a reload. `history` must outlive the changes of the policy.
  void Cut(SensorHistory& history) ABSL_LOCKS_EXCLUDED(mu_);

  // Nothing of the past of a VM, partition or device that is not the tenant's by the policy that is followed. A caller
  // may be of the policy before or after, while that is replaced.
  VmTenures OfVms(const Tenant& tenant) const ABSL_LOCKS_EXCLUDED(mu_);
  // Without a partition, of the whole device.
  BoardTenure OfBoard(const std::string& tenant, const std::string& device, std::optional<uint8_t> partition) const
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // A VM, a device or a partition of it.
  struct Subject {
    Uuid vm;
    std::string device;
    std::optional<uint8_t> partition;
    auto operator<=>(const Subject&) const = default;
  };
  struct Tenancy {
    std::string tenant;  // its name
    // When the grant was made: at the start of the daemon, unless a reload made it.
    absl::Duration steady = -absl::InfiniteDuration();
    uint64_t place = 0;                      // in the history of sensors
    absl::Time time = absl::InfinitePast();  // of a whole device, whose values may come long after they were measured
    // The time that the policy says instead, and that as an instant of the steady clock.
    std::optional<absl::Time> since;
    absl::Duration since_steady;
  };
  using Tenancies = std::map<Subject, Tenancy>;

  Tenancies TenanciesOf(const Policy& policy) const;
  Tenancy NewTenancy(const std::string& tenant, std::optional<absl::Time> since) const;
  void OnPolicyChange() override ABSL_LOCKS_EXCLUDED(mu_);
  // nullptr: it is not the tenant's.
  const Tenancy* Find(const std::string& tenant, const Subject& subject) const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  PolicyHolder& policy_;
  const Clock& clock_;
  mutable absl::Mutex mu_;
  SensorHistory* sensors_ ABSL_GUARDED_BY(mu_) = nullptr;  // after Cut()
  Tenancies tenancies_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_TENURE_H_

// SPDX-License-Identifier: Apache-2.0
//
// The part of a device that a group of principals may see: the results of Decide() for every scope and event of a
// topology.
//   if (const EventSet* events = view.Events(block.vm, block.context)) Show(*events);   // these counters may be read
#ifndef SIDEBAND_DAEMON_VIEW_VIEW_H_
#define SIDEBAND_DAEMON_VIEW_VIEW_H_

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "daemon/authz/decision.h"
#include "daemon/authz/policy.h"
#include "daemon/snapshot/topology.h"
#include "daemon/view/decision_log.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

// Indexed like the catalogue's events.
using EventSet = std::vector<bool>;

// Immutable, therefore thread-safe. Rows are looked up by id, since blocks appear and disappear between two snapshots
// of a topology. A block that the topology does not name is visible to no principal.
class View {
 public:
  // Every decision behind the view is added to `log`, if not nullptr. Nothing of the VMs in `foreign` is visible: the
  // topology is of a time at which they were not yet the principal's.
  View(const Policy& policy, const Principal& principal, std::shared_ptr<const Topology> topology,
       DecisionLog* log = nullptr, const std::set<Uuid>& foreign = {});
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const std::shared_ptr<const Topology>& topology() const { return topology_; }
  // Whether the device is visible at all; to a tenant only if one of its VMs is on the device.
  bool sees_device() const { return sees_device_; }
  // The device's own row: VM kHypervisorVm, context kNoContext. Whoever sees it sees those of the slices' hosts, too.
  bool sees_device_row() const { return Events(mailbox::kHypervisorVm, mailbox::kNoContext) != nullptr; }
  // Whether the VM's existence is visible, whether or not its counters may be read.
  bool SeesVm(uint16_t vm) const { return vms_.contains(vm); }
  // Whether the VM's sealed records may be delivered.
  bool SeesSealed(uint16_t vm) const { return sealed_.contains(vm); }
  // The counters of the row that may be read; nullptr where the row may not be read. Device-scope events are in the
  // device's row only.
  const EventSet* Events(uint16_t vm, uint16_t context) const;
  // The events of all visible rows.
  const EventSet& AllEvents() const { return all_events_; }

 private:
  class Builder;
  using ScopeId = std::pair<uint16_t, uint16_t>;  // VM, context

  const std::shared_ptr<const Topology> topology_;  // shared with the snapshots that it describes
  bool sees_device_ = false;
  absl::flat_hash_set<uint16_t> vms_;
  absl::flat_hash_set<uint16_t> sealed_;
  absl::flat_hash_map<ScopeId, size_t> rows_;  // the row's index in event_sets_
  std::vector<EventSet> event_sets_;  // of the device, its hosts together, each VM, and each VM's contexts together
  EventSet all_events_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_VIEW_H_

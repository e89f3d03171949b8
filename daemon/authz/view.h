// SPDX-License-Identifier: Apache-2.0
//
// What one group of principals may see of one device: Decide(), asked once per scope and event of a topology, and kept.
//   if (const EventSet* events = view.Events(block.vm, block.context)) …   // the row may be read, these counters of it
#ifndef SIDEBAND_DAEMON_AUTHZ_VIEW_H_
#define SIDEBAND_DAEMON_AUTHZ_VIEW_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "daemon/authz/decision.h"
#include "daemon/authz/decision_log.h"
#include "daemon/authz/policy.h"
#include "daemon/model/topology.h"

namespace sideband::daemon {

// By index in the catalogue's events.
using EventSet = std::vector<bool>;

// Immutable, therefore thread-safe. Rows are looked up by their ids, since blocks come and go between two snapshots of
// one topology; a block that the topology does not know is visible to nobody.
class View {
 public:
  // `log`, if there is one, is told every decision that the view is made of.
  View(const Policy& policy, const Principal& principal, std::shared_ptr<const Topology> topology,
       DecisionLog* log = nullptr);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const std::shared_ptr<const Topology>& topology() const { return topology_; }
  // Whether the device shows itself at all: to a tenant only once one of its VMs is there.
  bool sees_device() const { return sees_device_; }
  // The device's own row: VM kHypervisorVm, context kNoContext.
  bool sees_device_row() const { return Events(mailbox::kHypervisorVm, mailbox::kNoContext) != nullptr; }
  // That the VM exists, whether or not its counters may be read.
  bool SeesVm(uint16_t vm) const { return vms_.contains(vm); }
  // Whether the VM's sealed records may be carried.
  bool SeesSealed(uint16_t vm) const { return sealed_.contains(vm); }
  // Which counters of the row may be read; nullptr: the row may not. Device-scope events are in the device's row only.
  const EventSet* Events(uint16_t vm, uint16_t context) const;
  // Which events are in any visible row.
  const EventSet& AllEvents() const { return all_events_; }

 private:
  class Builder;
  using ScopeId = std::pair<uint16_t, uint16_t>;  // VM, context

  const std::shared_ptr<const Topology> topology_;  // shared with the snapshots that it names
  bool sees_device_ = false;
  absl::flat_hash_set<uint16_t> vms_;
  absl::flat_hash_set<uint16_t> sealed_;
  absl::flat_hash_map<ScopeId, size_t> rows_;  // the row's entry in event_sets_
  std::vector<EventSet> event_sets_;           // of the device, of each VM, of each VM's contexts together
  EventSet all_events_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_VIEW_H_

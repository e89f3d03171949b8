// SPDX-License-Identifier: Apache-2.0
//
// A device's catalogue, with lookups by id and name.
#ifndef SIDEBAND_DAEMON_SNAPSHOT_TOPOLOGY_H_
#define SIDEBAND_DAEMON_SNAPSHOT_TOPOLOGY_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "daemon/snapshot/coverage.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

// Immutable, therefore thread-safe. Returned pointers are valid as long as the topology.
class Topology {
 public:
  // `hash` is the catalogue's hash from the device.
  Topology(mailbox::Catalog catalog, uint32_t hash);
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  const mailbox::Catalog& catalog() const { return catalog_; }
  uint32_t hash() const { return hash_; }
  const Capacities& capacities() const { return capacities_; }
  const Coverage& coverage() const { return coverage_; }
  const Rotation& rotation() const { return rotation_; }
  // Whether a VM is confidential, or was since the device booted. What is shown of the device must exclude it.
  bool has_had_confidential_vm() const { return has_had_confidential_vm_; }
  // Whether the device's own block has counts of such a VM besides those of device-scope events: one is not private, or
  // was not as far as is known. Sums over the device must then be made of the other VMs.
  bool device_block_has_confidential_counts() const { return device_block_has_confidential_counts_; }

  // Whether a counter of the event in a block of the VM may be shown at all. False for an event that the device does
  // not count, and in the device's own block for a device-scope event while those are withheld.
  bool IsShown(uint16_t vm, size_t event, bool device_scope_withheld) const {
    const mailbox::EventInfo& info = catalog_.events[event];
    const bool withheld =
        device_scope_withheld && vm == mailbox::kHypervisorVm && info.scope == mailbox::EventScope::kDevice;
    return !info.masked && !withheld;
  }

  // Whether a plan may have the event: it is multiplexed in contexts' own time.
  bool CanTakeTurns(size_t event) const {
    const mailbox::EventInfo& info = catalog_.events[event];
    return rotation_.IsRotated(event) && info.scope == mailbox::EventScope::kContext && !info.masked;
  }

  // nullptr for an unknown id. The hypervisor has no entry.
  const mailbox::VmInfo* FindVm(uint16_t id) const;
  // By name or by canonical UUID; nullptr where unknown.
  const mailbox::VmInfo* FindVm(absl::string_view name_or_uuid) const;
  const mailbox::ContextInfo* FindContext(uint16_t vm, uint16_t id) const;
  // Whether the hypervisor has a block on the slice (mailbox::IsHostBlock).
  bool HasHostBlock(uint16_t slice) const;

 private:
  const mailbox::Catalog catalog_;
  const uint32_t hash_;
  const Capacities capacities_;
  const Coverage coverage_;
  const Rotation rotation_;
  bool has_had_confidential_vm_;
  bool device_block_has_confidential_counts_;
  absl::flat_hash_map<uint16_t, const mailbox::VmInfo*> vms_;
  absl::flat_hash_map<std::pair<uint16_t, uint16_t>, const mailbox::ContextInfo*> contexts_;
};

// Whether counters at the same place in both count the same: the events, in their order.
bool CountsTheSame(const Topology& a, const Topology& b);
// Whether only plans of counter rotation differ. All else that is told of a device is then the same.
bool DescribesTheSame(const Topology& a, const Topology& b);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_TOPOLOGY_H_

// SPDX-License-Identifier: Apache-2.0
//
// The only place where access is decided. Servers reach it through a View.
//   if (!Decide(policy, principal, Resource::Vm(uuid, /*confidential=*/false), Right::kRead).allowed) return;
#ifndef SIDEBAND_DAEMON_AUTHZ_DECISION_H_
#define SIDEBAND_DAEMON_AUTHZ_DECISION_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "daemon/authz/policy.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

struct Resource {
  enum class Kind : uint8_t {
    kDevice,       // the counters of the device as a whole, and its health
    kVmIdentity,   // that the VM exists: its name, UUID, and whether it is confidential
    kVm,           // the VM's own totals; with kSeal, its sealed records
    kContext,      // the counters of one context
    kEvent,        // one counter of the device (no VM), of a VM (no context) or of a context; with kConfigure, whether
                   // the VM counts it
    kSelfMetrics,  // the daemon's own metrics
    kAuditLog,     // the audit log: callers and their requests
    kGateGroup,    // a gate group of a device (no VM) or as it counts for a VM; its name is in `event`
    kBoard,        // what a board reports of itself and of all on it together
    kPartition,    // a metric of a partition of a device, and of its compute instances; its name is in `event`
  };
  Kind kind = Kind::kDevice;
  Uuid vm;                    // nil: the device
  bool confidential = false;  // whether `vm` is confidential
  std::string context;        // empty: the VM's own totals
  std::string event;
  std::string device = {};  // of kBoard and kPartition
  uint8_t partition = 0;    // of kPartition: its GPU instance

  static Resource Device() { return {.kind = Kind::kDevice}; }
  static Resource SelfMetrics() { return {.kind = Kind::kSelfMetrics}; }
  static Resource AuditLog() { return {.kind = Kind::kAuditLog}; }
  static Resource VmIdentity(const Uuid& vm, bool confidential) { return {Kind::kVmIdentity, vm, confidential}; }
  static Resource Vm(const Uuid& vm, bool confidential) { return {Kind::kVm, vm, confidential}; }
  static Resource Context(const Uuid& vm, bool confidential, std::string context) {
    return {Kind::kContext, vm, confidential, std::move(context)};
  }
  // The setting of a gate group for one VM, or with a nil `vm` for all.
  static Resource GateGroup(const Uuid& vm, bool confidential, std::string group) {
    return {Kind::kGateGroup, vm, confidential, {}, std::move(group)};
  }
  static Resource Board(std::string device) { return {.kind = Kind::kBoard, .device = std::move(device)}; }
  // `metric` is a word of mailbox::kMetrics.
  static Resource Partition(std::string device, uint8_t partition, std::string metric) {
    return {.kind = Kind::kPartition, .event = std::move(metric), .device = std::move(device), .partition = partition};
  }
  // This resource's counter of `event`.
  Resource Event(std::string event_name) const { return {Kind::kEvent, vm, confidential, context, event_name}; }
};

struct Decision {
  bool allowed = false;
  absl::string_view reason;  // for the audit log only, never for the caller; of static lifetime
};

// Pure. Denies by default. `principal` must be from `policy`.
Decision Decide(const Policy& policy, const Principal& principal, const Resource& resource, Right right);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_DECISION_H_

// SPDX-License-Identifier: Apache-2.0
//
// A device's catalogue with its lookups: who is who on the device.
#ifndef SIDEBAND_DAEMON_MODEL_TOPOLOGY_H_
#define SIDEBAND_DAEMON_MODEL_TOPOLOGY_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

// Immutable, therefore thread-safe. Pointers that it gives live as long as it does.
class Topology {
 public:
  // `hash` as the device gave it.
  Topology(mailbox::Catalog catalog, uint32_t hash);
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  const mailbox::Catalog& catalog() const { return catalog_; }
  uint32_t hash() const { return hash_; }
  // Whether a VM is confidential, or one has been since the device booted: then sums over the device must leave it out.
  bool has_had_confidential_vm() const { return has_had_confidential_vm_; }

  // nullptr where there is none; the hypervisor has none.
  const mailbox::VmInfo* FindVm(uint16_t id) const;
  // By name or by canonical UUID.
  const mailbox::VmInfo* FindVm(absl::string_view name_or_uuid) const;
  const mailbox::ContextInfo* FindContext(uint16_t vm, uint16_t id) const;

 private:
  const mailbox::Catalog catalog_;
  const uint32_t hash_;
  bool has_had_confidential_vm_;
  absl::flat_hash_map<uint16_t, const mailbox::VmInfo*> vms_;
  absl::flat_hash_map<std::pair<uint16_t, uint16_t>, const mailbox::ContextInfo*> contexts_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MODEL_TOPOLOGY_H_

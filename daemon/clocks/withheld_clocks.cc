// SPDX-License-Identifier: Apache-2.0
#include "daemon/clocks/withheld_clocks.h"

namespace sideband::daemon {

void WithheldClocks::Follow(const Topology& topology, uint64_t boot_id) {
  if (boot_id != boot_id_) {
    *this = {};
    boot_id_ = boot_id;
    // Others may have ended before the daemon saw any.
    has_any_ = has_all_ = topology.has_had_confidential_vm();
  }
  for (const mailbox::VmInfo& vm : topology.catalog().vms) {
    if (vm.confidential) AddSlicesOf(vm, topology);
  }
  // One that has come and gone between two catalogues.
  if (topology.has_had_confidential_vm() && !has_any_) has_any_ = has_all_ = true;
}

void WithheldClocks::AddSlicesOf(const mailbox::VmInfo& vm, const Topology& topology) {
  has_any_ = true;
  if (vm.slice != mailbox::kAnySlice) {
    slices_.insert(vm.slice);
  } else {
    has_all_ = true;
  }
  for (const mailbox::ContextInfo& context : topology.catalog().contexts) {
    if (context.vm == vm.id && context.slice != mailbox::kAnySlice) slices_.insert(context.slice);
  }
}

bool WithheldClocks::Has(const mailbox::ClockDomain& domain) const {
  return has_all_ || (has_any_ && (!domain.slice || slices_.contains(*domain.slice)));
}

}  // namespace sideband::daemon

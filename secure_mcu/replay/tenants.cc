// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/tenants.h"

#include <algorithm>

#include "proto/mailbox/catalog.h"

namespace sideband::mcu {

std::vector<ScheduledVm> ScheduledVms(const std::vector<sim::Residency>& schedule) {
  std::vector<ScheduledVm> vms;
  for (const sim::Residency& residency : schedule) {
    auto vm = std::find_if(vms.begin(), vms.end(), [&](const ScheduledVm& v) { return v.name == residency.vm; });
    if (vm == vms.end()) vm = vms.insert(vm, {.name = residency.vm});
    if (residency.context.empty()) continue;
    if (std::find(vm->contexts.begin(), vm->contexts.end(), residency.context) == vm->contexts.end()) {
      vm->contexts.push_back(residency.context);
    }
  }
  return vms;
}

std::vector<Tenant> CreateBlocks(const std::vector<ScheduledVm>& vms, MemoryBlocks& memory) {
  std::vector<Tenant> tenants;
  uint16_t vm_id = 0;
  for (const ScheduledVm& vm : vms) {
    const BlockId block = memory.Create(++vm_id, mailbox::kNoContext);
    tenants.push_back({.vm = vm.name, .binding = {.vm = block}});
    uint16_t context_id = 0;
    for (const std::string& context : vm.contexts) {
      tenants.push_back({vm.name, context, {.vm = block, .context = memory.Create(vm_id, context_id++)}});
    }
  }
  return tenants;
}

}  // namespace sideband::mcu

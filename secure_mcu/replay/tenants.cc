// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/tenants.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/mailbox/catalog.h"

namespace sideband::mcu {

std::vector<ScheduledVm> ScheduledVms(const std::vector<sim::Residency>& schedule) {
  std::vector<ScheduledVm> vms;
  std::map<std::string, size_t> index;  // into vms
  std::set<std::pair<std::string, std::string>> contexts;
  for (const sim::Residency& residency : schedule) {
    if (residency.is_host()) continue;
    const auto [vm, is_new] = index.try_emplace(residency.vm, vms.size());
    if (is_new) vms.push_back({.name = residency.vm, .contexts = {}});
    if (residency.context.empty() || !contexts.emplace(residency.vm, residency.context).second) continue;
    vms[vm->second].contexts.push_back(residency.context);
  }
  return vms;
}

void NameHosts(std::vector<sim::Residency>& schedule) {
  for (sim::Residency& residency : schedule) {
    if (residency.is_host()) residency.context = absl::StrCat("slice", residency.slice);
  }
}

std::vector<Tenant> CreateHosts(const std::vector<sim::Residency>& schedule, Chip& chip) {
  std::map<uint32_t, std::string> names;  // by slice
  for (const sim::Residency& residency : schedule) {
    if (residency.is_host()) names.emplace(residency.slice, residency.context);
  }
  std::vector<Tenant> hosts;
  if (!names.empty()) chip.CreateHostBlocks(HostTime::kWhileBound);
  for (const auto& [slice, name] : names) {
    hosts.push_back({sim::kHostVm, name, {.vm = chip.host_block(static_cast<uint8_t>(slice)), .context = {}}});
  }
  return hosts;
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

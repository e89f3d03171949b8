// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/topology.h"

#include <algorithm>
#include <tuple>

namespace sideband::daemon {
namespace {

// A field that is added to the catalogue must be added here: it does not compile otherwise.
auto WithoutPlans(const mailbox::Catalog& catalog) {
  const auto& [device, clock, had_confidential, were_private, events, slices, vms, contexts, hosts, groups, selections,
               relations, plans, domains] = catalog;
  return std::tie(device, clock, had_confidential, were_private, events, slices, vms, contexts, hosts, groups,
                  selections, relations, domains);
}

}  // namespace

Topology::Topology(mailbox::Catalog catalog, uint32_t hash)
    : catalog_(std::move(catalog)),
      hash_(hash),
      capacities_(catalog_),
      coverage_(catalog_),
      rotation_(catalog_),
      has_had_confidential_vm_(catalog_.has_had_confidential_vm),
      device_block_has_confidential_counts_(catalog_.has_had_confidential_vm &&
                                            !catalog_.confidential_vms_were_private) {
  for (const mailbox::VmInfo& vm : catalog_.vms) {
    vms_.emplace(vm.id, &vm);
    // Does not rely on the fields of the catalogue alone.
    has_had_confidential_vm_ |= vm.confidential;
    device_block_has_confidential_counts_ |= vm.confidential && !vm.is_private;
  }
  for (const mailbox::ContextInfo& context : catalog_.contexts) {
    contexts_.emplace(std::pair(context.vm, context.id), &context);
  }
}

const mailbox::VmInfo* Topology::FindVm(uint16_t id) const {
  const auto found = vms_.find(id);
  return found == vms_.end() ? nullptr : found->second;
}

const mailbox::VmInfo* Topology::FindVm(absl::string_view name_or_uuid) const {
  for (const mailbox::VmInfo& vm : catalog_.vms) {
    if (vm.name == name_or_uuid || vm.uuid.ToString() == name_or_uuid) return &vm;
  }
  return nullptr;
}

bool Topology::HasHostBlock(uint16_t slice) const {
  return std::ranges::any_of(catalog_.host_blocks,
                             [&](const mailbox::HostBlockInfo& block) { return block.slice == slice; });
}

const mailbox::ContextInfo* Topology::FindContext(uint16_t vm, uint16_t id) const {
  const auto found = contexts_.find(std::pair(vm, id));
  return found == contexts_.end() ? nullptr : found->second;
}

bool CountsTheSame(const Topology& a, const Topology& b) {
  return &a == &b || a.catalog().events == b.catalog().events;
}

bool DescribesTheSame(const Topology& a, const Topology& b) {
  return &a == &b || WithoutPlans(a.catalog()) == WithoutPlans(b.catalog());
}

}  // namespace sideband::daemon

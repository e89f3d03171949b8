// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/check_against.h"

#include <algorithm>

#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {
namespace {

bool IsKnown(const Topology& topology, const mailbox::BlockHeader& block) {
  if (mailbox::IsHostBlock(block)) return topology.HasHostBlock(block.context);
  if (block.vm == mailbox::kHypervisorVm) return true;
  if (block.context == mailbox::kNoContext) return topology.FindVm(block.vm) != nullptr;
  return topology.FindContext(block.vm, block.context) != nullptr;
}

bool IsConfidential(const mailbox::Catalog& catalog, uint16_t vm) {
  return std::ranges::any_of(catalog.vms, [&](const auto& info) { return info.id == vm && info.confidential; });
}

// A device that seals has no blocks of confidential VMs in its snapshots.
size_t ConfidentialBlocks(const mailbox::Catalog& catalog) {
  const auto is_confidential = [&](uint16_t vm) { return IsConfidential(catalog, vm); };
  return std::ranges::count_if(catalog.vms, is_confidential, &mailbox::VmInfo::id) +
         std::ranges::count_if(catalog.contexts, is_confidential, &mailbox::ContextInfo::vm);
}

// No scope occurs twice in a decoded snapshot, so equal numbers and known scopes mean that every scope is present.
absl::Status CheckBlocks(const Topology& topology, const mailbox::Snapshot& snapshot) {
  const mailbox::Catalog& catalog = topology.catalog();
  const bool has_confidential = std::ranges::any_of(
      snapshot.blocks, [&](const mailbox::BlockHeader& block) { return IsConfidential(catalog, block.vm); });
  const size_t all = 1 + catalog.vms.size() + catalog.contexts.size() + catalog.host_blocks.size();
  if (snapshot.blocks.size() != all - (has_confidential ? 0 : ConfidentialBlocks(catalog))) {
    return absl::InvalidArgumentError("the snapshot does not have the catalogue's blocks");
  }
  for (const mailbox::BlockHeader& block : snapshot.blocks) {
    if (!IsKnown(topology, block)) return absl::InvalidArgumentError("the snapshot has a block of an unknown scope");
  }
  return absl::OkStatus();
}

absl::Status CheckSealed(const Topology& topology, const mailbox::Snapshot& snapshot) {
  for (const mailbox::SealedBlocks& sealed : snapshot.sealed) {
    const auto has_block = [&](const mailbox::BlockHeader& block) { return block.vm == sealed.vm; };
    if (IsConfidential(topology.catalog(), sealed.vm) && std::ranges::none_of(snapshot.blocks, has_block)) continue;
    return absl::InvalidArgumentError(
        "the snapshot has a sealed record beside the VM's blocks, or of a VM that is not confidential");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAgainst(const Topology& topology, const mailbox::Snapshot& snapshot) {
  if (snapshot.catalog_hash != topology.hash() || snapshot.counters_per_block != topology.catalog().events.size()) {
    return absl::InvalidArgumentError("the snapshot does not belong to this catalogue");
  }
  const bool has_device = !snapshot.blocks.empty() && snapshot.blocks[0].vm == mailbox::kHypervisorVm;
  if (!has_device || mailbox::IsHostBlock(snapshot.blocks[0])) {
    return absl::InvalidArgumentError("the snapshot does not start with the device's own block");
  }
  if (!snapshot.rotation.empty() && snapshot.layout != mailbox::LayoutOf(topology.catalog())) {
    return absl::InvalidArgumentError("the snapshot's rotation does not match this catalogue");
  }
  if (!snapshot.clocks.empty() && snapshot.clocks.size() != topology.catalog().clock_domains.size()) {
    return absl::InvalidArgumentError("the snapshot's clocks do not match this catalogue");
  }
  SIDEBAND_RETURN_IF_ERROR(CheckBlocks(topology, snapshot));
  return CheckSealed(topology, snapshot);
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/check_against.h"

#include "proto/mailbox/rotation_layout.h"

namespace sideband::daemon {
namespace {

bool IsKnown(const Topology& topology, const mailbox::BlockHeader& block) {
  if (mailbox::IsHostBlock(block)) return topology.HasHostBlock(block.context);
  if (block.vm == mailbox::kHypervisorVm) return true;
  if (block.context == mailbox::kNoContext) return topology.FindVm(block.vm) != nullptr;
  return topology.FindContext(block.vm, block.context) != nullptr;
}

}  // namespace

absl::Status CheckAgainst(const Topology& topology, const mailbox::Snapshot& snapshot) {
  if (snapshot.catalog_hash != topology.hash() || snapshot.counters_per_block != topology.catalog().events.size()) {
    return absl::InvalidArgumentError("the snapshot is not one of this catalogue");
  }
  const bool has_device = !snapshot.blocks.empty() && snapshot.blocks[0].vm == mailbox::kHypervisorVm;
  if (!has_device || mailbox::IsHostBlock(snapshot.blocks[0])) {
    return absl::InvalidArgumentError("the snapshot does not start with the device's own block");
  }
  if (!snapshot.rotation.empty() && snapshot.layout != mailbox::LayoutOf(topology.catalog())) {
    return absl::InvalidArgumentError("the snapshot's rotation is not that of this catalogue");
  }
  if (!snapshot.clocks.empty() && snapshot.clocks.size() != topology.catalog().clock_domains.size()) {
    return absl::InvalidArgumentError("the snapshot's clocks are not those of this catalogue");
  }
  // No scope occurs twice in a decoded snapshot, so equal numbers and known scopes mean that every scope is present.
  const mailbox::Catalog& catalog = topology.catalog();
  if (snapshot.blocks.size() != 1 + catalog.vms.size() + catalog.contexts.size() + catalog.host_blocks.size()) {
    return absl::InvalidArgumentError("the snapshot does not have the catalogue's blocks");
  }
  for (const mailbox::BlockHeader& block : snapshot.blocks) {
    if (!IsKnown(topology, block)) return absl::InvalidArgumentError("the snapshot has a block of an unknown scope");
  }
  return absl::OkStatus();
}

}  // namespace sideband::daemon

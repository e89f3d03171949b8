// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/check_against.h"

namespace sideband::daemon {
namespace {

bool IsKnown(const Topology& topology, const mailbox::BlockHeader& block) {
  if (block.vm == mailbox::kHypervisorVm) return block.context == mailbox::kNoContext;
  if (block.context == mailbox::kNoContext) return topology.FindVm(block.vm) != nullptr;
  return topology.FindContext(block.vm, block.context) != nullptr;
}

}  // namespace

absl::Status CheckAgainst(const Topology& topology, const mailbox::Snapshot& snapshot) {
  if (snapshot.catalog_hash != topology.hash() || snapshot.counters_per_block != topology.catalog().events.size()) {
    return absl::InvalidArgumentError("the snapshot is not one of this catalogue");
  }
  if (snapshot.blocks.empty() || snapshot.blocks[0].vm != mailbox::kHypervisorVm) {
    return absl::InvalidArgumentError("the snapshot does not start with the device's own block");
  }
  // No scope occurs twice in a decoded snapshot, so equal numbers and known scopes mean that every scope is present.
  if (snapshot.blocks.size() != 1 + topology.catalog().vms.size() + topology.catalog().contexts.size()) {
    return absl::InvalidArgumentError("the snapshot does not have the catalogue's blocks");
  }
  for (const mailbox::BlockHeader& block : snapshot.blocks) {
    if (!IsKnown(topology, block)) return absl::InvalidArgumentError("the snapshot has a block of an unknown scope");
  }
  return absl::OkStatus();
}

}  // namespace sideband::daemon

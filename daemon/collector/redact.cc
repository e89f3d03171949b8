// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/redact.h"

#include <openssl/crypto.h>

#include <algorithm>

namespace sideband::daemon {
namespace {

bool IsKnown(const Topology& topology, const mailbox::BlockHeader& block) {
  if (block.vm == mailbox::kHypervisorVm) return block.context == mailbox::kNoContext;
  if (block.context == mailbox::kNoContext) return topology.FindVm(block.vm) != nullptr;
  return topology.FindContext(block.vm, block.context) != nullptr;
}

bool IsConfidential(const Topology& topology, const mailbox::BlockHeader& block) {
  const mailbox::VmInfo* const vm = topology.FindVm(block.vm);
  return vm != nullptr && vm->confidential;
}

void AppendBlock(const mailbox::Snapshot& from, size_t block, mailbox::Snapshot& to) {
  const auto counters = from.Counters(block);
  to.blocks.push_back(from.blocks[block]);
  to.counters.insert(to.counters.end(), counters.begin(), counters.end());
}

// The device's block becomes the sum of the VMs' own.
void SumShownVms(mailbox::Snapshot& shown) {
  const auto device = std::span(shown.counters).first(shown.counters_per_block);
  std::fill(device.begin(), device.end(), 0);
  shown.blocks[0].flags = 0;
  for (size_t block = 1; block < shown.blocks.size(); ++block) {
    if (shown.blocks[block].context != mailbox::kNoContext) continue;
    shown.blocks[0].flags |= shown.blocks[block].flags;
    const auto counters = shown.Counters(block);
    for (size_t i = 0; i < device.size(); ++i) device[i] += counters[i];
  }
}

}  // namespace

absl::Status CheckAgainst(const Topology& topology, const mailbox::Snapshot& snapshot) {
  if (snapshot.catalog_hash != topology.hash() || snapshot.counters_per_block != topology.catalog().events.size()) {
    return absl::InvalidArgumentError("the snapshot is not one of this catalogue");
  }
  if (snapshot.blocks.empty() || snapshot.blocks[0].vm != mailbox::kHypervisorVm) {
    return absl::InvalidArgumentError("the snapshot does not start with the device's own block");
  }
  for (const mailbox::BlockHeader& block : snapshot.blocks) {
    if (!IsKnown(topology, block)) return absl::InvalidArgumentError("the snapshot has a block of an unknown scope");
  }
  return absl::OkStatus();
}

mailbox::Snapshot Redact(const Topology& topology, mailbox::Snapshot&& raw) {
  if (!topology.has_confidential_vm()) return std::move(raw);
  mailbox::Snapshot shown = {.boot_id = raw.boot_id,
                             .snapshot_id = raw.snapshot_id,
                             .catalog_hash = raw.catalog_hash,
                             .trigger_id = raw.trigger_id,
                             .reference_time_ns = raw.reference_time_ns,
                             .counters_per_block = raw.counters_per_block};
  for (size_t block = 0; block < raw.blocks.size(); ++block) {
    if (!IsConfidential(topology, raw.blocks[block])) AppendBlock(raw, block, shown);
  }
  SumShownVms(shown);
  OPENSSL_cleanse(raw.counters.data(), raw.counters.size() * sizeof(uint64_t));
  return shown;
}

}  // namespace sideband::daemon

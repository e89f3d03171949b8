// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/redact.h"

#include <openssl/crypto.h>

#include <algorithm>

namespace sideband::daemon {
namespace {

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

mailbox::Snapshot Redact(const Topology& topology, mailbox::Snapshot&& raw, bool withheld) {
  if (!withheld) return std::move(raw);
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

// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/layout.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

Layout::Row RowOf(const mailbox::BlockHeader& block) { return {block.vm, block.context, block.generation}; }

uint32_t EstimatesOf(const DeviceSnapshot& snapshot) {
  return snapshot.estimated.empty() ? 0 : static_cast<uint32_t>(snapshot.topology->rotation().events());
}

}  // namespace

Layout Layout::Of(const DeviceSnapshot& snapshot) {
  Layout layout{.topology = snapshot.topology,
                .boot_id = snapshot.data.boot_id,
                .events = snapshot.data.counters_per_block,
                .estimates = EstimatesOf(snapshot),
                .device_scope_withheld = snapshot.device_scope_withheld};
  layout.rows.reserve(snapshot.data.blocks.size());
  for (const mailbox::BlockHeader& block : snapshot.data.blocks) layout.rows.push_back(RowOf(block));
  return layout;
}

bool Layout::Describes(const DeviceSnapshot& snapshot) const {
  return topology == snapshot.topology && boot_id == snapshot.data.boot_id &&
         events == snapshot.data.counters_per_block && estimates == EstimatesOf(snapshot) &&
         device_scope_withheld == snapshot.device_scope_withheld &&
         std::equal(rows.begin(), rows.end(), snapshot.data.blocks.begin(), snapshot.data.blocks.end(),
                    [](const Row& row, const mailbox::BlockHeader& block) { return row == RowOf(block); });
}

}  // namespace sideband::daemon

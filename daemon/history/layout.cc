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
                .device_scope_withheld = snapshot.device_scope_withheld,
                .device_row_withheld = snapshot.device_row_withheld};
  layout.rows.reserve(snapshot.data.blocks.size());
  for (const mailbox::BlockHeader& block : snapshot.data.blocks) layout.rows.push_back(RowOf(block));
  return layout;
}

bool Layout::Describes(const DeviceSnapshot& snapshot) const {
  return boot_id == snapshot.data.boot_id && events == snapshot.data.counters_per_block &&
         estimates == EstimatesOf(snapshot) && device_scope_withheld == snapshot.device_scope_withheld &&
         device_row_withheld == snapshot.device_row_withheld &&
         std::equal(rows.begin(), rows.end(), snapshot.data.blocks.begin(), snapshot.data.blocks.end(),
                    [](const Row& row, const mailbox::BlockHeader& block) { return row == RowOf(block); }) &&
         DescribesTheSame(*topology, *snapshot.topology);
}

bool Layout::operator==(const Layout& other) const {
  return boot_id == other.boot_id && events == other.events && estimates == other.estimates &&
         device_scope_withheld == other.device_scope_withheld && device_row_withheld == other.device_row_withheld &&
         rows == other.rows && DescribesTheSame(*topology, *other.topology);
}

}  // namespace sideband::daemon

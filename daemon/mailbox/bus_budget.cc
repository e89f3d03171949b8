// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/bus_budget.h"

#include <algorithm>

#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/snapshot_cost.h"

namespace sideband::daemon {
namespace {

// Number of blocks that are always sent in full: those of confidential VMs and their contexts, and the device's beside
// one that is not private (docs/decisions/0009).
size_t WholeBlocks(const mailbox::Catalog& catalog) {
  const mailbox::VmIds whole = mailbox::VmsWrittenWhole(catalog);
  const auto contexts = std::ranges::count_if(
      catalog.contexts, [&](uint16_t vm) { return whole.contains(vm); }, &mailbox::ContextInfo::vm);
  return whole.size() + static_cast<size_t>(contexts);
}

absl::Duration TimeOf(size_t stream_bytes, uint32_t bus_hz, uint32_t window_bytes) {
  return absl::Seconds(1) * static_cast<int64_t>(mailbox::CostOfSnapshot(stream_bytes, window_bytes).bit_times) /
         static_cast<int64_t>(bus_hz);
}

}  // namespace

BusBudget BudgetOf(const Topology& topology, uint32_t bus_hz, uint32_t window_bytes) {
  const mailbox::Catalog& catalog = topology.catalog();
  const size_t blocks = 1 + catalog.vms.size() + catalog.contexts.size() + catalog.host_blocks.size();
  const size_t counters = catalog.events.size();
  const mailbox::RotationShape rotation = mailbox::ShapeOf(catalog);
  const size_t domains = catalog.clock_domains.size();
  const size_t least = mailbox::SnapshotStreamBytesMin(blocks, WholeBlocks(catalog), counters, rotation, domains);
  const size_t most = mailbox::SnapshotStreamBytesMax(blocks, counters, rotation, domains);
  return {TimeOf(least, bus_hz, window_bytes), TimeOf(most, bus_hz, window_bytes)};
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/bus_budget.h"

#include <algorithm>

#include "proto/mailbox/snapshot_cost.h"

namespace sideband::daemon {
namespace {

// Number of blocks that are always sent in full: those of confidential VMs and their contexts, and with them the
// device's (docs/decisions/0009).
size_t WholeBlocks(const Topology& topology) {
  const auto is_confidential = [&](uint16_t vm) { return topology.FindVm(vm)->confidential; };
  const mailbox::Catalog& catalog = topology.catalog();
  const auto vms = std::count_if(catalog.vms.begin(), catalog.vms.end(),
                                 [&](const mailbox::VmInfo& vm) { return is_confidential(vm.id); });
  if (vms == 0) return 0;
  const auto contexts = std::count_if(catalog.contexts.begin(), catalog.contexts.end(),
                                      [&](const mailbox::ContextInfo& context) { return is_confidential(context.vm); });
  return 1 + static_cast<size_t>(vms + contexts);
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
  const size_t least = mailbox::SnapshotStreamBytesMin(blocks, WholeBlocks(topology), counters);
  const size_t most = mailbox::SnapshotStreamBytesMax(blocks, counters);
  return {TimeOf(least, bus_hz, window_bytes), TimeOf(most, bus_hz, window_bytes)};
}

}  // namespace sideband::daemon

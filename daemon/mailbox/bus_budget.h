// SPDX-License-Identifier: Apache-2.0
//
// The time for which one snapshot of a device occupies its bus, computed from the bus clock and the device's size.
//   const BusBudget budget = BudgetOf(*topology, /*bus_hz=*/100'000, /*window_bytes=*/255);
//   if (interval < budget.least) return Refuse(interval, budget.least);
#ifndef SIDEBAND_DAEMON_MAILBOX_BUS_BUDGET_H_
#define SIDEBAND_DAEMON_MAILBOX_BUS_BUDGET_H_

#include <cstdint>

#include "absl/time/time.h"
#include "daemon/snapshot/topology.h"

namespace sideband::daemon {

struct BusBudget {
  absl::Duration least;  // no counter has changed; a shorter interval cannot be met
  absl::Duration most;   // every counter has changed, and nothing compresses
};

// Assumes no retries and no clock stretching. `bus_hz` must be above 0, `window_bytes` 1 to 255.
BusBudget BudgetOf(const Topology& topology, uint32_t bus_hz, uint32_t window_bytes);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_BUS_BUDGET_H_

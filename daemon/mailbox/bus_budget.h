// SPDX-License-Identifier: Apache-2.0
//
// How long snapshots of a device keep its bus busy, from the bus's speed and the device's size.
//   const BusBudget budget = BudgetOf(*topology, /*bus_hz=*/100'000, /*window_bytes=*/255);
//   if (interval < budget.least) return Refuse(interval, budget.least);
#ifndef SIDEBAND_DAEMON_MAILBOX_BUS_BUDGET_H_
#define SIDEBAND_DAEMON_MAILBOX_BUS_BUDGET_H_

#include <cstdint>

#include "absl/time/time.h"
#include "daemon/model/topology.h"

namespace sideband::daemon {

struct BusBudget {
  absl::Duration least;  // nothing has changed: no interval below can be kept
  absl::Duration most;   // everything has, and nothing is like anything else
};

// Without repetitions and clock stretching. `bus_hz` above 0, windows of 1 to 255 bytes.
BusBudget BudgetOf(const Topology& topology, uint32_t bus_hz, uint32_t window_bytes);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_BUS_BUDGET_H_

// SPDX-License-Identifier: Apache-2.0
//
// Estimates the memory used by a topology, for accounting against a bound.
#ifndef SIDEBAND_DAEMON_HISTORY_FOOTPRINT_H_
#define SIDEBAND_DAEMON_HISTORY_FOOTPRINT_H_

#include <cstddef>

#include "daemon/snapshot/topology.h"

namespace sideband::daemon {

// Returns bytes; an estimate that is too high rather than too low.
size_t Footprint(const Topology& topology);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_FOOTPRINT_H_

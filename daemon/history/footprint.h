// SPDX-License-Identifier: Apache-2.0
//
// How much memory a topology takes, near enough to be counted against a bound.
#ifndef SIDEBAND_DAEMON_HISTORY_FOOTPRINT_H_
#define SIDEBAND_DAEMON_HISTORY_FOOTPRINT_H_

#include <cstddef>

#include "daemon/model/topology.h"

namespace sideband::daemon {

// Rather too much than too little.
size_t Footprint(const Topology& topology);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_FOOTPRINT_H_

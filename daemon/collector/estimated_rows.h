// SPDX-License-Identifier: Apache-2.0
//
// What is published of a snapshot whose events take turns on counters (daemon/snapshot/rotation.h).
//   FlagRotatedRows(*snapshot);
//   if (before != nullptr) RateEstimates(*before, *snapshot);
#ifndef SIDEBAND_DAEMON_COLLECTOR_ESTIMATED_ROWS_H_
#define SIDEBAND_DAEMON_COLLECTOR_ESTIMATED_ROWS_H_

#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {

// Sets kFlagEstimated on exactly the rows that show an estimate, and kFlagPartial also on those with an event that
// missed a turn, of which there may be no number yet. Without numbers of rotation the flags stay.
void FlagRotatedRows(DeviceSnapshot& snapshot);

// Replaces the rates of events that take turns by those of what is shown, and adds their bounds. A rate is NaN where
// one of the two snapshots shows no number of the event, and where it was counted in none of the interval's own cycles.
void RateEstimates(const DeviceSnapshot& before, DeviceSnapshot& now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_ESTIMATED_ROWS_H_

// SPDX-License-Identifier: Apache-2.0
//
// Says of the rows of a snapshot what was not counted, since the gate of an event was closed
// (docs/design/virtual-counters.md, "Coverage").
//   FlagPartialRows(topology.coverage(), snapshot->data);
//   DropUncountedRates(topology.coverage(), snapshot->data.counters_per_block, snapshot->rates);
#ifndef SIDEBAND_DAEMON_COLLECTOR_GATED_ROWS_H_
#define SIDEBAND_DAEMON_COLLECTOR_GATED_ROWS_H_

#include <cstddef>
#include <vector>

#include "daemon/snapshot/coverage.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Sets kFlagPartial on each row that is not whole; of turns, FlagRotatedRows (estimated_rows.h) does.
void FlagPartialRows(const Coverage& coverage, mailbox::Snapshot& shown);

// Makes rates unknown (NaN) whose event was counted in none of the interval's resident cycles. `rates` are those of
// Rates() (rates.h), row by row.
void DropUncountedRates(const Coverage& coverage, size_t counters_per_row, std::vector<double>& rates);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_GATED_ROWS_H_

// SPDX-License-Identifier: Apache-2.0
//
// The data that is published of a snapshot's rows besides their counts: rates, which rows are partial or estimated, and
// whether the counts add up. (docs/design/virtual-counters.md, "Coverage"; daemon/snapshot/coverage.h)
//   snapshot->rates = Rates(before.get(), *snapshot);
//   FlagPartialRows(topology.coverage(), snapshot->data);
//   DropUncountedRates(topology.coverage(), snapshot->data.counters_per_block, snapshot->rates);
//   FlagRotatedRows(*snapshot);
//   if (before != nullptr) RateEstimates(*before, *snapshot);
//   metrics.Conservation(device, CheckConservation(topology, raw));
#ifndef SIDEBAND_DAEMON_COLLECTOR_PUBLISHED_ROWS_H_
#define SIDEBAND_DAEMON_COLLECTOR_PUBLISHED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "daemon/snapshot/coverage.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// The increments of a device's pipeline statistics from snapshot to snapshot. Not thread-safe.
class PipelineIncrements {
 public:
  // The increments since the last call: of the first call and of another boot, all since the device's boot. A statistic
  // that falls within a boot has none, since devices may be wrong.
  mailbox::PipelineStatistics Since(uint64_t boot_id, const mailbox::PipelineStatistics& now);

 private:
  uint64_t boot_id_ = 0;
  mailbox::PipelineStatistics last_;
};

// The reference time between two snapshots; zero if `before` is nullptr, of another boot or of other events, and if no
// reference time has passed, or more than 2^63 ns. What else changes in a catalogue, as the plans of a VM's turns do,
// is not seen in others' rates.
absl::Duration Elapsed(const DeviceSnapshot* before, const DeviceSnapshot& now);

inline constexpr double kUnknownRate = std::numeric_limits<double>::quiet_NaN();

// Events per second between two counts; unknown if the count has decreased.
double RateOf(uint64_t before, uint64_t now, double seconds);

// Returns events per second of reference time, parallel to now.data.counters. A rate is NaN if Elapsed() is zero, if
// `before` has no block of the same scope and generation, or if the counter has decreased.
std::vector<double> Rates(const DeviceSnapshot* before, const DeviceSnapshot& now);

// Sets kFlagPartial on each row that is not whole, since the gate of an event was closed; of turns, FlagRotatedRows
// does.
void FlagPartialRows(const Coverage& coverage, mailbox::Snapshot& shown);

// Makes rates unknown (NaN) whose event was counted in none of the interval's resident cycles. `rates` are those of
// Rates(), row by row.
void DropUncountedRates(const Coverage& coverage, size_t counters_per_row, std::vector<double>& rates);

// Sets kFlagEstimated on exactly the rows that show an estimate, and kFlagPartial also on those with an event that
// missed a turn, of which there may be no number yet. Without numbers of rotation the flags stay.
void FlagRotatedRows(DeviceSnapshot& snapshot);

// Replaces the rates of multiplexed events by those of what is shown, and adds their bounds. A rate is NaN where
// one of the two snapshots shows no number of the event, and where it was counted in none of the interval's own cycles.
void RateEstimates(const DeviceSnapshot& before, DeviceSnapshot& now);

// Checks the law of additivity (pipeline.md, "Laws") on a snapshot, as far as blocks allow: true if, for every event
// counted per context, no VM has a smaller count than the sum of its contexts, and the device has no smaller count than
// the sum of its hosts and of its VMs that are not private. (Greater counts are valid: they include contexts that have
// ended and time without a context.) The same holds for estimates. Rows with any other flag than those of estimates are
// exempt, since it marks their counts as possibly inexact. `raw` must have passed CheckAgainst (daemon/mailbox). It
// includes confidential VMs, so only this one bit may be published.
bool CheckConservation(const Topology& topology, const mailbox::Snapshot& raw);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_PUBLISHED_ROWS_H_

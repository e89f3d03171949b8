// SPDX-License-Identifier: Apache-2.0
//
// For what share of its time an event of a gate group was counted (docs/design/virtual-counters.md, "Coverage").
//   const Coverage coverage(catalog);
//   if (coverage.IsGated(event)) Show(coverage.OfCount(event, snapshot.Counters(row)));   // 0 to 1
#ifndef SIDEBAND_DAEMON_SNAPSHOT_COVERAGE_H_
#define SIDEBAND_DAEMON_SNAPSHOT_COVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

// The events that count the cycles in which a gated event was counted, and those in which it could have been.
struct GateCycles {
  size_t running = 0;
  size_t resident = 0;
  bool operator==(const GateCycles&) const = default;
};

// Immutable, therefore thread-safe. Events are positions in the catalogue's list. Counters and rates are those of one
// row, by event. Without a gate the coverage is 1; it is 0 where there is no number, and NaN where it is unknown, since
// the device does not count the cycles, or contradicts itself.
class Coverage {
 public:
  explicit Coverage(const mailbox::Catalog& catalog);

  bool has_gates() const { return !gates_.empty(); }
  // Whether a gate decides when the event is counted. Running cycles are complete by themselves: they have none.
  bool IsGated(size_t event) const { return event < gates_.size() && gates_[event].is_gated; }
  // nullopt for an event without a gate, and where the device does not count the cycles.
  std::optional<GateCycles> CyclesOf(size_t event) const;

  // Since the counters' beginning. 0: the event has not been counted in any cycle yet.
  double OfCount(size_t event, std::span<const uint64_t> counters) const;
  // Of the rates' interval. 0: the event was counted in none of the resident cycles. NaN also where there were none.
  double OfRate(size_t event, std::span<const double> rates) const;
  // Whether every event was counted in every resident cycle since the counters' beginning.
  bool IsWhole(std::span<const uint64_t> counters) const;

  // Of a count, from the two counts of cycles.
  static double OfCycles(uint64_t running, uint64_t resident);

 private:
  struct Gate {
    bool is_gated = false;
    std::optional<size_t> running;
  };

  std::vector<Gate> gates_;  // by event; empty if the device has no groups
  std::optional<size_t> resident_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_COVERAGE_H_

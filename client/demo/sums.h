// SPDX-License-Identifier: Apache-2.0
//
// Whether the numbers that a demonstration shows add up.
//   CheckScrapeSums(output, "busy_cycles", Sums::kEqual)   // "" or what does not add up
//   CheckGrowth(output, "busy_cycles")                     // "" or what decreases
//   CheckEquality(output, "busy_cycles")                   // "" or what differs
#ifndef SIDEBAND_CLIENT_DEMO_SUMS_H_
#define SIDEBAND_CLIENT_DEMO_SUMS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace sideband::client {

enum class Sums {
  kNone,    // not checked
  kAtMost,  // the parts count at most what the whole counts, which includes what has ended; there may be none
  kEqual,
};

// In Prometheus' text format: the VMs' counters of the event against the device's. A text without them does not add up.
std::string CheckScrapeSums(absl::string_view output, absl::string_view event, Sums sums);

// In a table of `sideband get`: the contexts' counts of each event against their VM's. A table without counts does not
// add up; one with shortened names is not checked.
std::string CheckTableSums(absl::string_view output, Sums sums);

// In tables of `sideband hpc read` and of `sideband watch`: the event's count does not decrease from one to the next.
// At least three must be there: a snapshot between two readings.
std::string CheckGrowth(absl::string_view output, absl::string_view event);

// In such tables: the event's count is above 0 and the same in all. At least two must be there.
std::string CheckEquality(absl::string_view output, absl::string_view event);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_SUMS_H_

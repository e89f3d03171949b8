// SPDX-License-Identifier: Apache-2.0
//
// Checks of the numbers that a demonstration shows: whether they add up, and whether counts can be found in bytes that
// others have (what passed a bus, or a program's memory).
//   SIDEBAND_ASSIGN_OR_RETURN(const size_t found, FindInFile({123456789012}, "gpu0.sbt"));
#ifndef SIDEBAND_CLIENT_DEMO_NUMBER_CHECKS_H_
#define SIDEBAND_CLIENT_DEMO_NUMBER_CHECKS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::client {

// How the parts that a text shows relate to the whole.
enum class Sums {
  kNone,    // not checked
  kAtMost,  // the parts count at most what the whole counts, which includes what has ended; there may be none
  kEqual,
};

// Each check returns what is wrong, and an empty text if nothing is:
//   CheckScrapeSums(output, "busy_cycles", Sums::kEqual)   // what does not add up
//   CheckGrowth(output, "busy_cycles")                     // what decreases
//   CheckEquality(output, "busy_cycles")                   // what differs

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

// A search is for no smaller numbers: these may be anywhere by chance.
inline constexpr uint64_t kTellingNumberMin = uint64_t{1} << 32;

// How many of the numbers are in the bytes: as a word of 8 bytes, at each bit offset, as a snapshot's stream has it; as
// a varint; as text.
size_t CountFound(const std::vector<uint64_t>& numbers, absl::string_view bytes);
// Errors start with the path.
absl::StatusOr<size_t> FindInFile(const std::vector<uint64_t>& numbers, const std::string& path);
// The same in all memory of a running process. PERMISSION_DENIED unless the caller may read it.
absl::StatusOr<size_t> FindInProcess(const std::vector<uint64_t>& numbers, pid_t process);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_NUMBER_CHECKS_H_

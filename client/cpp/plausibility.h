// SPDX-License-Identifier: Apache-2.0
//
// Holds each snapshot of a stream against the one before: what the API promises of counters, generations and times.
//   Plausibility plausibility;
//   SIDEBAND_RETURN_IF_ERROR(plausibility.Check(snapshot, /*is_whole=*/true));
#ifndef SIDEBAND_CLIENT_CPP_PLAUSIBILITY_H_
#define SIDEBAND_CLIENT_CPP_PLAUSIBILITY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "sideband/snapshot.h"

namespace sideband::library {

// Not thread-safe. Memory: the counts of the newest snapshot of each device, kDevicesMax at most.
class Plausibility {
 public:
  // DATA_LOSS that says what contradicts what: a count that falls within a boot and a generation, a generation or a
  // device's clock that goes back within a boot, too many devices. `is_whole`: all scopes of the device are there, so
  // what is absent has ended; otherwise only those that have changed.
  //
  // Not held to it: estimates, and the device's own row beside confidential VMs, which a daemon that restarts may sum
  // up anew.
  absl::Status Check(const Snapshot& snapshot, bool is_whole);

 private:
  struct Life {
    uint32_t generation = 0;
    std::vector<std::pair<std::string, uint64_t>> counts;
  };
  using Lives = std::unordered_map<std::string, Life>;
  struct Device {
    uint64_t boot_id = 0;
    Duration reference_time{};
    Lives lives;  // by ScopeKey()
  };

  static absl::Status CheckRow(const ScopeCounters& row, const Lives& before);
  static Life LifeOf(const ScopeCounters& row);

  std::map<std::string, Device> devices_;
};

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_PLAUSIBILITY_H_

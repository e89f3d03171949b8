// SPDX-License-Identifier: Apache-2.0
//
// Process-wide settings, applied before the first additional thread starts.
//   PrepareProcess();
#ifndef SIDEBAND_DAEMON_RUN_PROCESS_H_
#define SIDEBAND_DAEMON_RUN_PROCESS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace sideband::daemon {

// Keys are kept in locked memory and out of core dumps. The limit of open files is raised to the hard limit. Freed
// memory is returned to the system.
void PrepareProcess();

// Returns to the system freed memory that the allocator keeps, where it has become much more: after a crowd of
// connections has gone.
//   MemoryTrim memory;
//   memory.Trim(clock.Steady());   // as often as wanted: it acts every ten seconds at most
// Not thread-safe.
class MemoryTrim {
 public:
  void Trim(absl::Duration now);

 private:
  absl::Duration next_;
  int64_t kept_ = 0;  // the fewest unused bytes since the last trim
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_PROCESS_H_

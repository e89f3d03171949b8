// SPDX-License-Identifier: Apache-2.0
//
// Process-wide settings, applied before the first additional thread starts.
//   PrepareProcess();
#ifndef SIDEBAND_DAEMON_RUN_PROCESS_H_
#define SIDEBAND_DAEMON_RUN_PROCESS_H_

#include <cstddef>

namespace sideband::daemon {

// Keys are kept in locked memory and out of core dumps. The limit of open files is raised to the hard limit. Freed
// memory is returned to the system.
void PrepareProcess();

// Returns to the system freed memory that the allocator keeps, where it has become much more: after a crowd of
// connections has gone.
//   MemoryTrim memory;
//   memory.Trim();   // every second
// Not thread-safe.
class MemoryTrim {
 public:
  void Trim();

 private:
  size_t kept_ = 0;  // freed bytes that the allocator still counts after the last trim, though their pages are returned
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_PROCESS_H_

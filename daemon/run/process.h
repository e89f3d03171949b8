// SPDX-License-Identifier: Apache-2.0
//
// Process-wide settings, applied before the first additional thread starts.
//   PrepareProcess();
#ifndef SIDEBAND_DAEMON_RUN_PROCESS_H_
#define SIDEBAND_DAEMON_RUN_PROCESS_H_

namespace sideband::daemon {

// Keys are kept in locked memory and out of core dumps. The limit of open files is raised to the hard limit. Freed
// memory is returned to the system.
void PrepareProcess();

// Returns freed memory that the allocator keeps, where it is much: after a crowd of connections has gone. To be called
// every second.
void ReturnFreedMemory();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_PROCESS_H_

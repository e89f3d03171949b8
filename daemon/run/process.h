// SPDX-License-Identifier: Apache-2.0
//
// What the daemon's process is set up with, before there is any other thread.
//   PrepareProcess();
#ifndef SIDEBAND_DAEMON_RUN_PROCESS_H_
#define SIDEBAND_DAEMON_RUN_PROCESS_H_

namespace sideband::daemon {

// Keys lie in locked memory and in no core dump; as many files may be open as the system allows; memory goes back to
// the system.
void PrepareProcess();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_PROCESS_H_

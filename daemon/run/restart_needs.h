// SPDX-License-Identifier: Apache-2.0
//
// The settings that require a restart.
//   for (const std::string& name : RestartNeeds(in_force, wanted)) Log(name);   // "grpc.listen"
#ifndef SIDEBAND_DAEMON_RUN_RESTART_NEEDS_H_
#define SIDEBAND_DAEMON_RUN_RESTART_NEEDS_H_

#include <string>
#include <vector>

#include "daemon/config/config.h"

namespace sideband::daemon {

// Returns the configuration keys of the settings that differ and that a running daemon cannot change.
std::vector<std::string> RestartNeeds(const Config& in_force, const Config& wanted);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_RESTART_NEEDS_H_

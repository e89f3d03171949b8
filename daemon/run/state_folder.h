// SPDX-License-Identifier: Apache-2.0
//
// The folder for state that outlives the daemon.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto folder, OpenStateFolder(config.state_dir, std::getenv));
#ifndef SIDEBAND_DAEMON_RUN_STATE_FOLDER_H_
#define SIDEBAND_DAEMON_RUN_STATE_FOLDER_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace sideband::daemon {

// Returns `configured` unless it is empty; else the first folder of systemd's $STATE_DIRECTORY; else `sideband` in
// $XDG_STATE_HOME or in .local/state of $HOME, which must exist. A missing folder is created with mode 0700. `variable`
// returns the value of an environment variable, or nullptr if it is not set. NOT_FOUND if no source names a folder;
// PERMISSION_DENIED if other users
// may write to it; otherwise the system's error.
absl::StatusOr<std::string> OpenStateFolder(const std::string& configured,
                                            const std::function<const char*(const char*)>& variable);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_STATE_FOLDER_H_

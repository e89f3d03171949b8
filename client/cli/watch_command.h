// SPDX-License-Identifier: Apache-2.0
//
// `sideband watch`: counters as they are read, until Ctrl-C.
#ifndef SIDEBAND_CLIENT_CLI_WATCH_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_WATCH_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewWatchCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_WATCH_COMMAND_H_

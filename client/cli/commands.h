// SPDX-License-Identifier: Apache-2.0
//
// The table of subcommands.
#ifndef SIDEBAND_CLIENT_CLI_COMMANDS_H_
#define SIDEBAND_CLIENT_CLI_COMMANDS_H_

#include <memory>
#include <vector>

#include "client/cli/command.h"

namespace sideband::client {

// In the order in which help shows them.
std::vector<std::unique_ptr<Command>> AllCommands();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_COMMANDS_H_

// SPDX-License-Identifier: Apache-2.0
//
// The table of all subcommands.
#ifndef SIDEBAND_CLIENT_COMMANDS_H_
#define SIDEBAND_CLIENT_COMMANDS_H_

#include <memory>
#include <vector>

#include "client/cli/command.h"

namespace sideband::client {

// Creates all subcommands, in the order of the help text.
std::vector<std::unique_ptr<Command>> AllCommands();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_COMMANDS_H_

// SPDX-License-Identifier: Apache-2.0
//
// `sideband get`: the newest counters; with --since, those of the past.
#ifndef SIDEBAND_CLIENT_CLI_GET_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_GET_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewGetCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_GET_COMMAND_H_

// SPDX-License-Identifier: Apache-2.0
//
// `sideband events`: what the devices count.
#ifndef SIDEBAND_CLIENT_CLI_EVENTS_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_EVENTS_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewEventsCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_EVENTS_COMMAND_H_

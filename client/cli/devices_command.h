// SPDX-License-Identifier: Apache-2.0
//
// `sideband devices`: the devices of which one may see anything.
#ifndef SIDEBAND_CLIENT_CLI_DEVICES_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_DEVICES_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewDevicesCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_DEVICES_COMMAND_H_

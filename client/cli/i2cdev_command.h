// SPDX-License-Identifier: Apache-2.0
//
// `sideband i2cdev -- COMMAND …`: runs a program that uses /dev/i2c-N on a virtual bus.
#ifndef SIDEBAND_CLIENT_CLI_I2CDEV_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_I2CDEV_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewI2cDevCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_I2CDEV_COMMAND_H_

// SPDX-License-Identifier: Apache-2.0
//
// `sideband sensors`: what boards measure of themselves; `sideband board events`: what happens to them.
//   commands.push_back(NewSensorsCommand());
#ifndef SIDEBAND_CLIENT_SENSORS_SENSOR_COMMANDS_H_
#define SIDEBAND_CLIENT_SENSORS_SENSOR_COMMANDS_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewSensorsCommand();
std::unique_ptr<Command> NewBoardCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_SENSORS_SENSOR_COMMANDS_H_

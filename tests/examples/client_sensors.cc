// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "client/cli/command.h"
#include "client/sensors/sensor_commands.h"
#include "client/sensors/sensor_text.h"

namespace sideband::client {
namespace {

void UseSensorCommands(std::vector<std::unique_ptr<Command>>& commands) {
  //@ client/sensors/sensor_commands.h
}

void UseSensorText(const v1::GetSensorsResponse* response, const TableStyle& style, CommandContext& context) {
  //@ client/sensors/sensor_text.h
}

}  // namespace
}  // namespace sideband::client

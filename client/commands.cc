// SPDX-License-Identifier: Apache-2.0
#include "client/commands.h"

#include "client/admin/admin_command.h"
#include "client/bus/bus_command.h"
#include "client/cli/builtin_commands.h"
#include "client/counting/counting_command.h"
#include "client/demo/demo_command.h"
#include "client/export/export_command.h"
#include "client/hpc/hpc_command.h"
#include "client/marks/mark_commands.h"
#include "client/rotation/rotation_command.h"
#include "client/sensors/sensor_commands.h"
#include "client/top/top_command.h"

namespace sideband::client {

std::vector<std::unique_ptr<Command>> AllCommands() {
  constexpr std::unique_ptr<Command> (*kFactories[])() = {
      NewDevicesCommand, NewEventsCommand,   NewScopesCommand,   NewGetCommand,    NewPeekCommand,   NewWatchCommand,
      NewTopCommand,     NewSensorsCommand,  NewBoardCommand,    NewHealthCommand, NewUnsealCommand, NewExportCommand,
      NewAuditCommand,   NewCountingCommand, NewRotationCommand, NewMarkCommand,   NewMarksCommand,  NewSpanCommand,
      NewClocksCommand,  NewAdminCommand,    NewBusCommand,      NewHpcCommand,    NewDemoCommand,   NewI2cDevCommand,
  };
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto factory : kFactories) commands.push_back(factory());
  return commands;
}

}  // namespace sideband::client

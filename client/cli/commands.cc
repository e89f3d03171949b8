// SPDX-License-Identifier: Apache-2.0
#include "client/cli/commands.h"

#include "client/bus/bus_command.h"
#include "client/cli/audit_command.h"
#include "client/cli/devices_command.h"
#include "client/cli/events_command.h"
#include "client/cli/get_command.h"
#include "client/cli/i2cdev_command.h"
#include "client/cli/scopes_command.h"
#include "client/cli/unseal_command.h"
#include "client/cli/watch_command.h"
#include "client/demo/demo_command.h"

namespace sideband::client {

std::vector<std::unique_ptr<Command>> AllCommands() {
  constexpr std::unique_ptr<Command> (*kFactories[])() = {
      NewDevicesCommand, NewEventsCommand, NewScopesCommand, NewGetCommand,  NewWatchCommand,
      NewUnsealCommand,  NewAuditCommand,  NewBusCommand,    NewDemoCommand, NewI2cDevCommand,
  };
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto factory : kFactories) commands.push_back(factory());
  return commands;
}

}  // namespace sideband::client

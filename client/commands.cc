// SPDX-License-Identifier: Apache-2.0
#include "client/commands.h"

#include <span>

#include "client/bus/bus_command.h"
#include "client/cli/command.h"
#include "client/demo/demo_command.h"
#include "client/top/top_command.h"

namespace sideband::client {

namespace {

using Factory = std::unique_ptr<Command> (*)();

// The first five are those that most users need.
constexpr Factory kRead[] = {NewDevicesCommand, NewScopesCommand,  NewGetCommand,   NewWatchCommand, NewTopCommand,
                             NewEventsCommand,  NewSensorsCommand, NewBoardCommand, NewPeekCommand};
constexpr Factory kTenants[] = {NewMarkCommand,     NewMarksCommand,  NewSpanCommand,   NewCountingCommand,
                                NewRotationCommand, NewUnsealCommand, NewExportCommand, NewHpcCommand};
constexpr Factory kOperate[] = {NewHealthCommand, NewClocksCommand, NewAdminCommand, NewAuditCommand};
constexpr Factory kTools[] = {NewDemoCommand, NewConfigCommand, NewBusCommand, NewI2cDevCommand, NewCompletionCommand};

struct Group {
  const char* title;
  std::span<const Factory> factories;
};
constexpr Group kGroups[] = {{"Read counters and sensors", kRead},
                             {"For tenants and guests", kTenants},
                             {"Operate the daemon", kOperate},
                             {"Tools", kTools}};

}  // namespace

std::vector<std::unique_ptr<Command>> AllCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  for (const Group& group : kGroups) {
    for (const Factory factory : group.factories) {
      commands.push_back(factory());
      commands.back()->set_group(group.title);
    }
  }
  return commands;
}

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
//
// Factories of this folder's subcommands; client/commands.cc lists all subcommands.
//   commands.push_back(NewGetCommand());
#ifndef SIDEBAND_CLIENT_CLI_BUILTIN_COMMANDS_H_
#define SIDEBAND_CLIENT_CLI_BUILTIN_COMMANDS_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

// `sideband devices`: lists the devices that the caller may see.
std::unique_ptr<Command> NewDevicesCommand();
// `sideband events`: lists the events that the devices count.
std::unique_ptr<Command> NewEventsCommand();
// `sideband scopes`: lists the VMs and contexts whose counters the caller may read.
std::unique_ptr<Command> NewScopesCommand();
// `sideband get`: prints the newest counters; with --since, past counters.
std::unique_ptr<Command> NewGetCommand();
// `sideband peek`: prints a few counters as they are now.
std::unique_ptr<Command> NewPeekCommand();
// `sideband watch`: prints counters as the daemon reads them, until Ctrl-C.
std::unique_ptr<Command> NewWatchCommand();
// `sideband health`: reports whether the daemon serves, for probes.
std::unique_ptr<Command> NewHealthCommand();
// `sideband admin`: what operators on the daemon's machine may do.
std::unique_ptr<Command> NewAdminCommand();
// `sideband counting`: shows, sets and explains who is counted.
std::unique_ptr<Command> NewCountingCommand();
// `sideband rotation`: shows, plans and sets which events are multiplexed on the counters.
std::unique_ptr<Command> NewRotationCommand();
// `sideband mark`, `marks`, `span`: instants of a VM's work, and the counts between two of them.
std::unique_ptr<Command> NewMarkCommand();
std::unique_ptr<Command> NewMarksCommand();
std::unique_ptr<Command> NewSpanCommand();
// `sideband clocks`: lists the clocks of a device.
std::unique_ptr<Command> NewClocksCommand();
// `sideband sensors`: prints the measurements of boards.
std::unique_ptr<Command> NewSensorsCommand();
// `sideband board events`: prints the events of boards.
std::unique_ptr<Command> NewBoardCommand();
// `sideband hpc`: reads counters by registers, inside a guest.
std::unique_ptr<Command> NewHpcCommand();
// `sideband export`: serves a confidential VM's counters to a Prometheus inside it.
std::unique_ptr<Command> NewExportCommand();
// `sideband unseal`: opens sealed records with the VM's key.
std::unique_ptr<Command> NewUnsealCommand();
// `sideband audit`: verifies and prints the daemon's audit log files.
std::unique_ptr<Command> NewAuditCommand();
// `sideband completion SHELL`: prints the completion for a shell, as //client:manual does.
std::unique_ptr<Command> NewCompletionCommand();
// `sideband i2cdev -- COMMAND …`: runs a program that uses /dev/i2c-N on a virtual bus.
std::unique_ptr<Command> NewI2cDevCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_BUILTIN_COMMANDS_H_

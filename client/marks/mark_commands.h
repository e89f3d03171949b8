// SPDX-License-Identifier: Apache-2.0
//
// `sideband mark`, `marks` and `span`: instants of a VM's work, and what it counted between them; `sideband clocks`:
// the clocks of a device.
//   commands.push_back(NewSpanCommand());
#ifndef SIDEBAND_CLIENT_MARKS_MARK_COMMANDS_H_
#define SIDEBAND_CLIENT_MARKS_MARK_COMMANDS_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewMarkCommand();
std::unique_ptr<Command> NewMarksCommand();
std::unique_ptr<Command> NewSpanCommand();
std::unique_ptr<Command> NewClocksCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_MARKS_MARK_COMMANDS_H_

// SPDX-License-Identifier: Apache-2.0
//
// `sideband bus`: inspects the traffic of a management bus.
#ifndef SIDEBAND_CLIENT_BUS_BUS_COMMAND_H_
#define SIDEBAND_CLIENT_BUS_BUS_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewBusCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_BUS_COMMAND_H_

// SPDX-License-Identifier: Apache-2.0
//
// `sideband top`: devices, VMs, contexts and events on a full screen.
#ifndef SIDEBAND_CLIENT_TOP_TOP_COMMAND_H_
#define SIDEBAND_CLIENT_TOP_TOP_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewTopCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_TOP_TOP_COMMAND_H_

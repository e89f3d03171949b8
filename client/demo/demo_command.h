// SPDX-License-Identifier: Apache-2.0
//
// `sideband demo`: a demonstration on one machine without an accelerator. It has an emulated device, the daemon, an
// operator, two tenants and a confidential guest.
#ifndef SIDEBAND_CLIENT_DEMO_DEMO_COMMAND_H_
#define SIDEBAND_CLIENT_DEMO_DEMO_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewDemoCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_DEMO_COMMAND_H_

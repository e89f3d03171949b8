// SPDX-License-Identifier: Apache-2.0
//
// `sideband admin reload|trigger|rotate-keys`: what operators on the daemon's machine may do.
#ifndef SIDEBAND_CLIENT_ADMIN_ADMIN_COMMAND_H_
#define SIDEBAND_CLIENT_ADMIN_ADMIN_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewAdminCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_ADMIN_ADMIN_COMMAND_H_

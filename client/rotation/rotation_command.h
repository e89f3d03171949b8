// SPDX-License-Identifier: Apache-2.0
//
// `sideband rotation show|plan|set|learn`: what takes turns on a device's counters.
#ifndef SIDEBAND_CLIENT_ROTATION_ROTATION_COMMAND_H_
#define SIDEBAND_CLIENT_ROTATION_ROTATION_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewRotationCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_ROTATION_ROTATION_COMMAND_H_

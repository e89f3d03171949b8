// SPDX-License-Identifier: Apache-2.0
//
// `sideband hpc`: the registers by which a guest's programs read counters.
#ifndef SIDEBAND_CLIENT_HPC_HPC_COMMAND_H_
#define SIDEBAND_CLIENT_HPC_HPC_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewHpcCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_HPC_HPC_COMMAND_H_

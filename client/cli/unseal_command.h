// SPDX-License-Identifier: Apache-2.0
//
// `sideband unseal`: opens sealed records with the VM's key.
#ifndef SIDEBAND_CLIENT_CLI_UNSEAL_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_UNSEAL_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewUnsealCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_UNSEAL_COMMAND_H_

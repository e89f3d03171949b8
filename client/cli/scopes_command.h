// SPDX-License-Identifier: Apache-2.0
//
// `sideband scopes`: the VMs and contexts whose counters one may read.
#ifndef SIDEBAND_CLIENT_CLI_SCOPES_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_SCOPES_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewScopesCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_SCOPES_COMMAND_H_

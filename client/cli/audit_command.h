// SPDX-License-Identifier: Apache-2.0
//
// `sideband audit`: the daemon's audit log, from its files.
#ifndef SIDEBAND_CLIENT_CLI_AUDIT_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_AUDIT_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewAuditCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_AUDIT_COMMAND_H_

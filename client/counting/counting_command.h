// SPDX-License-Identifier: Apache-2.0
//
// `sideband counting show|set|explain`: who is counted, and what.
#ifndef SIDEBAND_CLIENT_COUNTING_COUNTING_COMMAND_H_
#define SIDEBAND_CLIENT_COUNTING_COUNTING_COMMAND_H_

#include <memory>

#include "client/cli/command.h"

namespace sideband::client {

std::unique_ptr<Command> NewCountingCommand();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_COUNTING_COUNTING_COMMAND_H_

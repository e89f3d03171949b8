// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "client/cli/command.h"
#include "client/marks/mark_commands.h"

namespace sideband::client {
namespace {

void UseMarkCommands(std::vector<std::unique_ptr<Command>>& commands) {
  //@ client/marks/mark_commands.h
}

}  // namespace
}  // namespace sideband::client

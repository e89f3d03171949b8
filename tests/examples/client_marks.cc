// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "client/cli/command.h"
#include "client/marks/mark_commands.h"
#include "client/marks/mark_text.h"

namespace sideband::client {
namespace {

void UseMarkCommands(std::vector<std::unique_ptr<Command>>& commands) {
  //@ client/marks/mark_commands.h
}

void UseMarkText(const v1::ListMarksResponse* response, const TableStyle& style, CommandContext& context) {
  //@ client/marks/mark_text.h
}

}  // namespace
}  // namespace sideband::client

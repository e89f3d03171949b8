// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/cli/command_line.h"

#include "secure_mcu/firmware/version.h"

namespace sideband::mcu {

CommandLine MakeCommandLine() {
  auto app = std::make_unique<CLI::App>("The emulated secure microcontroller of a shared accelerator.", kProgram);
  app->require_subcommand(1);
  app->set_version_flag("--version", ProgramVersion());
  std::vector<Command> commands = {AddReplayCommand(*app), AddServeCommand(*app), AddDescribeCommand(*app),
                                   AddPeekCommand(*app)};
  return {std::move(app), std::move(commands)};
}

}  // namespace sideband::mcu

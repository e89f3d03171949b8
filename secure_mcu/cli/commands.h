// SPDX-License-Identifier: Apache-2.0
//
// The commands of `sideband-mcu`. Each function adds a command and its options to the program's command line.
//   CLI::App app("The emulated secure microcontroller of a shared accelerator.");
//   const Command replay = AddReplayCommand(app);
//   app.parse(argc, argv);
//   if (replay.app->parsed()) return ReportAndExitCode("sideband-mcu", replay.run());
#ifndef SIDEBAND_SECURE_MCU_CLI_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_CLI_COMMANDS_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace CLI {
class App;
}

namespace sideband::mcu {

struct Command {
  CLI::App* app;  // the subcommand; `parsed()` if it is on the command line
  std::function<absl::Status()> run;
};

Command AddReplayCommand(CLI::App& app);
Command AddServeCommand(CLI::App& app);
Command AddDescribeCommand(CLI::App& app);
Command AddPeekCommand(CLI::App& app);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CLI_COMMANDS_H_

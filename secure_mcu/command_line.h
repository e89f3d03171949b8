// SPDX-License-Identifier: Apache-2.0
//
// The command line of `sideband-mcu`: its commands with their options.
//   const CommandLine line = MakeCommandLine();
//   line.app->parse(argc, argv);
//   for (const Command& command : line.commands) {
//     if (command.app->parsed()) return ReportAndExitCode(kProgram, command.run());
//   }
#ifndef SIDEBAND_SECURE_MCU_COMMAND_LINE_H_
#define SIDEBAND_SECURE_MCU_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"

namespace sideband::mcu {

inline constexpr char kProgram[] = "sideband-mcu";

struct Command {
  CLI::App* app;  // the subcommand; `parsed()` if it is on the command line
  std::function<absl::Status()> run;
};

// `commands` refers to `app`.
struct CommandLine {
  std::unique_ptr<CLI::App> app;
  std::vector<Command> commands;
};

// The manual page is generated from it, too.
CommandLine MakeCommandLine();

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_COMMAND_LINE_H_

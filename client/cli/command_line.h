// SPDX-License-Identifier: Apache-2.0
//
// The command line of `sideband`: the global options and all subcommands. Example:
//   GlobalOptions options;
//   const std::vector<std::unique_ptr<Command>> commands = AllCommands();
//   const std::unique_ptr<CLI::App> app = MakeCommandLine(options, commands);
#ifndef SIDEBAND_CLIENT_CLI_COMMAND_LINE_H_
#define SIDEBAND_CLIENT_CLI_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "client/cli/command.h"
#include "client/lib/config.h"

namespace sideband::client {

// The subcommands that have no Command.
inline constexpr char kHelpCommand[] = "help";
inline constexpr char kVersionCommand[] = "version";

struct GlobalOptions {
  std::string config_file;
  ClientConfig flags;
};

// Parsing stores the options in `options` and in the commands, which must outlive the result. The manual page and the
// completions are generated from it, too.
std::unique_ptr<CLI::App> MakeCommandLine(GlobalOptions& options,
                                          const std::vector<std::unique_ptr<Command>>& commands);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_COMMAND_LINE_H_

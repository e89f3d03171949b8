// SPDX-License-Identifier: Apache-2.0
//
// The program `sideband` without its process: command line in, exit status out. Example:
//   GlobalOptions options;
//   const std::vector<std::unique_ptr<Command>> commands = AllCommands();
//   const std::unique_ptr<CLI::App> app = MakeCommandLine(options, commands);
#ifndef SIDEBAND_CLIENT_CLI_CLI_H_
#define SIDEBAND_CLIENT_CLI_CLI_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/command.h"
#include "client/lib/channel.h"

namespace CLI {
class App;
}

namespace sideband::client {

struct GlobalOptions {
  std::string config_file;
  ClientConfig flags;
};

// Parsing stores the options in `options` and in the commands, which must outlive the result. The manual page and the
// completions are generated from it, too.
std::unique_ptr<CLI::App> MakeCommandLine(GlobalOptions& options,
                                          const std::vector<std::unique_ptr<Command>>& commands);

// Parses `arguments` (without the program's name) and runs the named subcommand. Help and version are printed to the
// environment's output. Returns INVALID_ARGUMENT with a one-line message for a malformed command line.
absl::Status RunCli(const std::vector<std::string>& arguments, std::vector<std::unique_ptr<Command>> commands,
                    Environment& environment);

// Prints "sideband: message" on standard error unless OK. Returns 0 for OK; 2 for a mistake in the command line, the
// configuration or a file; 1 for all other errors and for all errors from the daemon. An exit code in the status
// (command.h) takes precedence; without a message nothing is printed.
int ReportCli(const absl::Status& status);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_CLI_H_

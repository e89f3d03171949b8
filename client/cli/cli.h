// SPDX-License-Identifier: Apache-2.0
//
// The program `sideband` without its process: command line in, exit status out.
#ifndef SIDEBAND_CLIENT_CLI_CLI_H_
#define SIDEBAND_CLIENT_CLI_CLI_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/command.h"

namespace sideband::client {

// Parses `arguments` (without the program's name) and runs the named subcommand. Help and version are printed to the
// environment's output. Returns INVALID_ARGUMENT with a one-line message for a malformed command line.
absl::Status RunCli(const std::vector<std::string>& arguments, std::vector<std::unique_ptr<Command>> commands,
                    Environment& environment);

// Prints "sideband: message" on standard error unless OK. Returns 0 for OK; 2 for a mistake in the command line, the
// configuration or a file; 1 for all other errors and for all errors from the daemon. An exit code in the status
// (exit_code.h) takes precedence; without a message nothing is printed.
int ReportCli(const absl::Status& status);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_CLI_H_

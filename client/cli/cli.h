// SPDX-License-Identifier: Apache-2.0
//
// The program `sideband`, apart from its process: command line in, exit status out.
#ifndef SIDEBAND_CLIENT_CLI_CLI_H_
#define SIDEBAND_CLIENT_CLI_CLI_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/command.h"

namespace sideband::client {

inline constexpr char kVersion[] = "0.1.0";

// Parses `arguments` (without the program's name) and runs the subcommand that they name. Help and version go to the
// environment's output. A command line that cannot be understood is INVALID_ARGUMENT, in one line.
absl::Status RunCli(const std::vector<std::string>& arguments, std::vector<std::unique_ptr<Command>> commands,
                    Environment& environment);

// Prints "sideband: message" on standard error unless OK. 0 for OK, 2 for a mistake in the command line, the
// configuration or a file, 1 for everything else and whatever came from the daemon.
int ReportCli(const absl::Status& status);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_CLI_H_

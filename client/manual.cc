// SPDX-License-Identifier: Apache-2.0
//
// Prints the manual page of `sideband`, or its completion for a shell.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "client/cli/cli.h"
#include "client/commands.h"
#include "proto/base/man_page.h"
#include "proto/base/version.h"

namespace sideband::client {
namespace {

manual::ManPage Page() {
  return {.section = 1,
          .release = std::string("sideband ") + kVersion,
          .sections = {{"EXIT STATUS",
                        {{"0", "Success."},
                         {"1", "The daemon or the connection failed, or the daemon refused."},
                         {"2", "A mistake in the command line, the configuration or a file."}}},
                       {"ENVIRONMENT",
                        {{"SIDEBAND_CONFIG", "The configuration, if --config is not given."},
                         {"SIDEBAND_I2CDEV", "The buses of i2cdev, if --bus is not given."},
                         {"GRPC_VERBOSITY", "Enables gRPC's own log on standard error: debug, info or error."}}},
                       {"FILES",
                        {{"~/.config/sideband/client.yaml",
                          "The configuration, if neither --config nor SIDEBAND_CONFIG names another: address (or a "
                          "list of them), ca_file, cert_file, key_file, token_file and server_name, as the options of "
                          "these names."},
                         {"~/.local/state/sideband/", "Which sealed record of a VM was the newest, for unseal."}}}},
          .see_also = {"sideband-mcu(1)", "sidebandd(8)"}};
}

int Main(int argc, char** argv) {
  GlobalOptions options;
  const std::vector<std::unique_ptr<Command>> commands = AllCommands();
  const std::unique_ptr<CLI::App> app = MakeCommandLine(options, commands);
  return manual::PrintManual(argc, argv, *app, Page());
}

}  // namespace
}  // namespace sideband::client

int main(int argc, char** argv) { return sideband::client::Main(argc, argv); }

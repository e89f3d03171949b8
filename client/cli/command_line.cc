// SPDX-License-Identifier: Apache-2.0
#include "client/cli/command_line.h"

#include "absl/strings/str_cat.h"
#include "proto/base/version.h"

namespace sideband::client {
namespace {

void DefineGlobal(CLI::App& app, GlobalOptions& options) {
  app.set_version_flag("--version", absl::StrCat("sideband ", BuildVersion()));
  app.add_option("--config", options.config_file,
                 "Configuration; default: $SIDEBAND_CONFIG, or ~/.config/sideband/client.yaml if there is one")
      ->type_name("FILE");
  app.add_option("--address", options.flags.address,
                 absl::StrCat("The daemon's address, or several with commas between; default: ", kDefaultAddress))
      ->type_name("HOST:PORT");
  app.add_option("--ca-file", options.flags.ca_file,
                 "Certificate authorities that the daemon's certificate is verified against")
      ->type_name("FILE");
  app.add_option("--cert-file", options.flags.cert_file, "The client's certificate")->type_name("FILE");
  app.add_option("--key-file", options.flags.key_file, "The private key of the client's certificate")
      ->type_name("FILE");
  app.add_option("--token-file", options.flags.token_file, "A file with a bearer token, with or without a certificate")
      ->type_name("FILE");
  app.add_option("--server-name", options.flags.server_name, "The name in the daemon's certificate")->type_name("NAME");
  app.footer(
      "Examples:\n"
      "  sideband devices\n"
      "  sideband get --vm vm1 --format json\n"
      "  sideband watch --interval 500ms");
}

void DefineCommand(CLI::App& app, Command& command) {
  CLI::App* const subcommand = app.add_subcommand(command.name(), command.description());
  subcommand->group(command.group());
  subcommand->fallthrough();  // accepts global options after the subcommand, too
  command.Define(*subcommand);
}

}  // namespace

std::unique_ptr<CLI::App> MakeCommandLine(GlobalOptions& options,
                                          const std::vector<std::unique_ptr<Command>>& commands) {
  auto app = std::make_unique<CLI::App>("Out-of-band performance telemetry of shared accelerators", "sideband");
  DefineGlobal(*app, options);
  for (const auto& command : commands) DefineCommand(*app, *command);
  app->add_subcommand(kHelpCommand, "Print the help of a command: help [COMMAND]")->group("Tools");
  app->add_subcommand(kVersionCommand, "Print the version")->group("Tools")->fallthrough();
  app->require_subcommand(1);
  return app;
}

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include "client/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/lib/rpc_status.h"
#include "proto/base/text.h"
#include "proto/base/usage_error.h"

namespace sideband::client {
namespace {

struct GlobalOptions {
  std::string config_file;
  ClientConfig flags;
};

void DefineGlobal(CLI::App& app, GlobalOptions& options) {
  app.set_version_flag("--version", absl::StrCat("sideband ", kVersion));
  app.add_option("--config", options.config_file,
                 "Configuration; default: $SIDEBAND_CONFIG, or ~/.config/sideband/client.yaml if there is one")
      ->type_name("FILE");
  app.add_option("--address", options.flags.address, absl::StrCat("The daemon's address; default: ", kDefaultAddress))
      ->type_name("HOST:PORT");
  app.add_option("--ca-file", options.flags.ca_file, "Certificates of who may have issued the daemon's")
      ->type_name("FILE");
  app.add_option("--cert-file", options.flags.cert_file, "Our certificate")->type_name("FILE");
  app.add_option("--key-file", options.flags.key_file, "Our certificate's private key")->type_name("FILE");
  app.add_option("--token-file", options.flags.token_file, "A bearer token, with our certificate or without")
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
  subcommand->fallthrough();  // global options may stand after the subcommand, too
  command.Define(*subcommand);
}

// OK once the command line is parsed; `*done` where that was all there was to do.
absl::Status Parse(CLI::App& app, std::vector<std::string> arguments, Output& out, bool* done) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    *done = true;
    return out.Write(app.help());
  } catch (const CLI::CallForVersion& version) {
    *done = true;
    return out.Write(absl::StrCat(version.what(), "\n"));
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunCli(const std::vector<std::string>& arguments, std::vector<std::unique_ptr<Command>> commands,
                    Environment& environment) {
  CLI::App app("Out-of-band performance telemetry of shared accelerators", "sideband");
  GlobalOptions options;
  DefineGlobal(app, options);
  for (const auto& command : commands) DefineCommand(app, *command);
  app.require_subcommand(1);
  bool done = false;
  if (absl::Status parsed = Parse(app, arguments, environment.out, &done); !parsed.ok() || done) return parsed;
  CommandContext context(environment, options.config_file, options.flags);
  const std::string name = app.get_subcommands().front()->get_name();
  const auto chosen = std::ranges::find_if(commands, [&](const auto& command) { return command->name() == name; });
  return (*chosen)->Run(context);
}

int ReportCli(const absl::Status& status) {
  const int code = ReportAndExitCode("sideband", status);
  return ExitCode(status).value_or(IsRemote(status) ? 1 : code);
}

}  // namespace sideband::client

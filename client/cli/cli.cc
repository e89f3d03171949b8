// SPDX-License-Identifier: Apache-2.0
#include "client/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cli/command_line.h"
#include "client/cli/exit_code.h"
#include "client/lib/rpc_status.h"
#include "proto/base/command_line.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

// The program's options, for the help of a subcommand. An option whose name the subcommand also defines is accepted
// before the subcommand only, since the subcommand's own option hides it after.
std::string GlobalHelp(const CLI::App& app, const CLI::App& subcommand) {
  std::string text = "\nGlobal options (before the subcommand or after it):\n", before;
  const CLI::Formatter formatter;
  for (const CLI::Option* option : app.get_options()) {
    if (option == app.get_help_ptr() || option == app.get_version_ptr()) continue;
    const std::string line = formatter.make_option(option, /*is_positional=*/false);
    absl::StrAppend(subcommand.get_option_no_throw(option->get_name()) == nullptr ? &text : &before, line);
  }
  if (!before.empty()) absl::StrAppend(&text, "Global options before the subcommand only:\n", before);
  return text;
}

// The innermost parsed subcommand; nullptr if none was parsed.
const CLI::App* Innermost(const CLI::App& app) {
  const CLI::App* inner = nullptr;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) inner = at = at->get_subcommands().front();
  return inner;
}

std::string Help(const CLI::App& app) {
  const CLI::App* const subcommand = Innermost(app);
  return app.help() + (subcommand == nullptr ? "" : GlobalHelp(app, *subcommand));
}

// Rewrites `help COMMAND…` to `COMMAND… --help`.
absl::StatusOr<std::vector<std::string>> WithoutHelpWord(const CLI::App& app, std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0] != kHelpCommand) return arguments;
  arguments.erase(arguments.begin());
  const CLI::App* at = &app;
  for (const std::string& word : arguments) {
    std::vector<std::string> names;
    const CLI::App* named = nullptr;
    for (const CLI::App* const subcommand : at->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(subcommand->get_name());
      if (subcommand->get_name() == word) named = subcommand;
    }
    const bool is_option = word == "--help" || word == "-h";
    if (named == nullptr && !is_option) {
      return absl::InvalidArgumentError(absl::StrCat("help: unknown command '", word, "'", DidYouMean(word, names)));
    }
    if (!is_option) at = named;
  }
  arguments.push_back("--help");
  return arguments;
}

}  // namespace

absl::Status RunCli(const std::vector<std::string>& arguments, std::vector<std::unique_ptr<Command>> commands,
                    Environment& environment) {
  GlobalOptions options;
  const std::unique_ptr<CLI::App> line = MakeCommandLine(options, commands);
  CLI::App& app = *line;
  SIDEBAND_ASSIGN_OR_RETURN(std::vector<std::string> words, WithoutHelpWord(app, arguments));
  const auto print = [&](absl::string_view text) { return environment.out.Write(text); };
  SIDEBAND_ASSIGN_OR_RETURN(const bool is_answered, ParseCommandLine(app, std::move(words), print, Help));
  if (is_answered) return absl::OkStatus();
  const std::string name = app.get_subcommands().front()->get_name();
  if (name == kVersionCommand) return environment.out.Write(absl::StrCat(app.version(), "\n"));
  CommandContext context(environment, options.config_file, options.flags);
  const auto chosen = std::ranges::find_if(commands, [&](const auto& command) { return command->name() == name; });
  if (chosen == commands.end()) return environment.out.Write(app.help());  // `--config FILE help`
  return context.Explain((*chosen)->Run(context));
}

int ReportCli(const absl::Status& status) {
  if (status.message().empty() && ExitCode(status)) return *ExitCode(status);
  const int code = ReportAndExitCode("sideband", status);
  return ExitCode(status).value_or(IsRemote(status) ? 1 : code);
}

}  // namespace sideband::client

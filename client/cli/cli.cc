// SPDX-License-Identifier: Apache-2.0
#include "client/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/lib/rpc_status.h"
#include "proto/base/command_entry.h"
#include "proto/base/command_line.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/version.h"

namespace sideband::client {
namespace {

// The subcommands that have no Command.
constexpr char kHelpCommand[] = "help";
constexpr char kVersionCommand[] = "version";

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

struct ShellRow {
  const char* name;
  std::string (*completion)(const manual::CommandEntry& program);
};
constexpr ShellRow kShells[] = {
    {"bash", manual::BashCompletion}, {"zsh", manual::ZshCompletion}, {"fish", manual::FishCompletion}};

class CompletionCommand final : public Command {
 public:
  std::string name() const override { return "completion"; }
  std::string description() const override { return "Print the completion of this program for a shell"; }

  void Define(CLI::App& app) override {
    app_ = &app;
    std::vector<std::string> names;
    for (const ShellRow& shell : kShells) names.emplace_back(shell.name);
    app.add_option("shell", shell_, "Which shell")->required()->check(CLI::IsMember(names))->type_name("SHELL");
    app.footer(
        "The packages install the same files.\n"
        "Examples:\n"
        "  source <(sideband completion bash)\n"
        "  sideband completion zsh > ~/.zfunc/_sideband      # a folder of zsh's fpath\n"
        "  sideband completion fish > ~/.config/fish/completions/sideband.fish");
  }

  absl::Status Run(CommandContext& context) override {
    const auto* const shell = std::ranges::find(kShells, shell_, &ShellRow::name);
    return context.out().Write(shell->completion(manual::DescribeCommand(*app_->get_parent())));
  }

 private:
  CLI::App* app_ = nullptr;  // its parent has all subcommands, once the command line is made
  std::string shell_;
};

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

std::unique_ptr<Command> NewCompletionCommand() { return std::make_unique<CompletionCommand>(); }

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "client/cli/builtin_commands.h"
#include "proto/manual/command_entry.h"
#include "proto/manual/completion.h"

namespace sideband::client {
namespace {

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

std::unique_ptr<Command> NewCompletionCommand() { return std::make_unique<CompletionCommand>(); }

}  // namespace sideband::client

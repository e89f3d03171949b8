// SPDX-License-Identifier: Apache-2.0
#include "client/top/top_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "client/top/feed.h"
#include "client/top/full_screen.h"
#include "client/top/signals.h"
#include "client/top/terminal_screen.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

class TopCommand final : public Command {
 public:
  std::string name() const override { return "top"; }
  std::string description() const override { return "Show devices, VMs and contexts on a full screen"; }

  void Define(CLI::App& app) override {
    app.footer(
        "Needs a terminal of 80 columns and 24 rows. ? shows the keys.\n"
        "Example:\n"
        "  sideband top");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_RETURN_IF_ERROR(top::TerminalScreen::Check(context.get_env()));
    SIDEBAND_ASSIGN_OR_RETURN(const ClientConfig config, context.Config());
    top::Signals signals;  // before the connection's threads
    top::Wake wake;
    const Cancellation::Hook cancelled(context.cancellation(), [&wake] { wake.Set(); });
    SIDEBAND_ASSIGN_OR_RETURN(const auto feed, top::Feed::Start(context, [&wake] { wake.Set(); }));
    // Destroyed first: no error or note is printed to the full screen.
    SIDEBAND_ASSIGN_OR_RETURN(const auto terminal, top::TerminalScreen::Open(context.get_env()));
    return top::FullScreen(context, config.address, signals, wake, *feed, *terminal).Run();
  }
};

}  // namespace

std::unique_ptr<Command> NewTopCommand() { return std::make_unique<TopCommand>(); }

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "client/cli/builtin_commands.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

class HealthCommand final : public Command {
 public:
  std::string name() const override { return "health"; }
  std::string description() const override { return "Check that the daemon serves a fresh device"; }

  void Define(CLI::App& app) override {
    app.add_flag("--alive", accepts_idle_, "Succeed if the daemon answers, even without a fresh device");
    app.footer(
        "The exit status is 0, or 1 if the check fails. The daemon does not audit the call.\n"
        "Example:\n  sideband health --address unix:/run/sideband/grpc.sock");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    SIDEBAND_ASSIGN_OR_RETURN(const bool serving, client->IsServing());
    if (serving) return context.out().Write("serving\n");
    if (accepts_idle_) return context.out().Write("alive, no device is fresh\n");
    return MarkRemote(absl::UnavailableError("no device is fresh"));
  }

 private:
  bool accepts_idle_ = false;
};

}  // namespace

std::unique_ptr<Command> NewHealthCommand() { return std::make_unique<HealthCommand>(); }

}  // namespace sideband::client

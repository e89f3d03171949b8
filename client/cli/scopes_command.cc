// SPDX-License-Identifier: Apache-2.0
#include "client/cli/scopes_command.h"

#include <CLI/CLI.hpp>

#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

class ScopesCommand final : public Command {
 public:
  std::string name() const override { return "scopes"; }
  std::string description() const override { return "List the VMs and contexts"; }

  void Define(CLI::App& app) override {
    app.add_option("--device", device_, "Only this device")->type_name("NAME");
    format_.AddTo(app);
    app.footer("Example:\n  sideband scopes --device gpu0");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::ListScopesRequest request;
    request.set_device(device_);
    SIDEBAND_ASSIGN_OR_RETURN(const auto response, client->ListScopes(request));
    return context.out().Write(format_.json() ? ToJson(response) : ScopesTable(response));
  }

 private:
  std::string device_;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewScopesCommand() { return std::make_unique<ScopesCommand>(); }

}  // namespace sideband::client

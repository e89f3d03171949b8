// SPDX-License-Identifier: Apache-2.0
#include "client/cli/get_command.h"

#include <CLI/CLI.hpp>

#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

class GetCommand final : public Command {
 public:
  std::string name() const override { return "get"; }
  std::string description() const override { return "Print the newest counters"; }

  void Define(CLI::App& app) override {
    filter_.AddTo(app);
    format_.AddTo(app);
    app.footer(
        "Examples:\n"
        "  sideband get --vm vm0\n"
        "  sideband get --device gpu0 --event sm_active --event dram_read --format json");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::GetSnapshotRequest request;
    *request.mutable_filter() = filter_.ToFilter();
    SIDEBAND_ASSIGN_OR_RETURN(const auto response, client->GetSnapshot(request));
    return context.out().Write(format_.json() ? ToJson(response) : SnapshotTables(response));
  }

 private:
  FilterOptions filter_;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewGetCommand() { return std::make_unique<GetCommand>(); }

}  // namespace sideband::client

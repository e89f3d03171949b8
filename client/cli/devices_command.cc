// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "client/cli/builtin_commands.h"
#include "client/cli/csv_render.h"
#include "client/cli/empty_notes.h"
#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

class DevicesCommand final : public Command {
 public:
  std::string name() const override { return "devices"; }
  std::string description() const override { return "List the devices"; }

  void Define(CLI::App& app) override {
    format_.AddTo(app);
    app.footer("Example:\n  sideband devices --address host:9878");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    SIDEBAND_ASSIGN_OR_RETURN(const auto response, client->ListDevices({}));
    for (const std::string& note : AwayNotes(response)) context.Note(note);
    if (format_.json()) return context.out().Write(ToJson(response));
    return context.out().Write(format_.csv() ? DevicesCsv(response)
                                             : DevicesTable(response, context.StyleOf(format_.style)));
  }

 private:
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewDevicesCommand() { return std::make_unique<DevicesCommand>(); }

}  // namespace sideband::client

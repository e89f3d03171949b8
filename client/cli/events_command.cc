// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "client/cli/builtin_commands.h"
#include "client/cli/csv_render.h"
#include "client/cli/device_choice.h"
#include "client/cli/empty_notes.h"
#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/selection.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

class EventsCommand final : public Command {
 public:
  std::string name() const override { return "events"; }
  std::string description() const override { return "List the events that the devices count"; }

  void Define(CLI::App& app) override {
    AddDeviceOption(app, devices_);
    format_.AddTo(app);
    app.footer("Example:\n  sideband events --device gpu0");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    auto response = ListFor(devices_, [&](const std::string& device) {
      v1::ListEventsRequest request;
      request.set_device(device);
      return client->ListEvents(request);
    });
    if (!response.ok()) return ExplainNotFound(response.status(), {.devices = devices_}, *client);
    auto& listed = *response->mutable_devices();
    listed.erase(std::remove_if(listed.begin(), listed.end(),
                                [&](const auto& device) { return !IsChosen(devices_, device.device()); }),
                 listed.end());
    if (listed.empty()) NoteEmptyListing(devices_, *client, context);
    if (format_.json()) return context.out().Write(ToJson(*response));
    return context.out().Write(format_.csv() ? EventsCsv(*response)
                                             : EventsTable(*response, context.StyleOf(format_.style)));
  }

 private:
  std::vector<std::string> devices_;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewEventsCommand() { return std::make_unique<EventsCommand>(); }

}  // namespace sideband::client

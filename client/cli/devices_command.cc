// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/builtin_commands.h"
#include "client/cli/csv_render.h"
#include "client/cli/empty_notes.h"
#include "client/cli/hosts.h"
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
    app.footer(
        "A list of addresses asks several daemons.\n"
        "Examples:\n"
        "  sideband devices --address host:9878\n"
        "  sideband devices --address a:9878,b:9878");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(std::vector<Host> hosts, HostsOf(context));
    std::vector<absl::StatusOr<v1::ListDevicesResponse>> responses(hosts.size());
    SIDEBAND_RETURN_IF_ERROR(
        AskEach(hosts, [&](size_t i, const auto& client) { responses[i] = client->ListDevices({}); }));
    HostErrors errors(context);
    std::vector<DevicesAtHost> answers;
    for (size_t i = 0; i < hosts.size(); ++i) {
      SIDEBAND_RETURN_IF_ERROR(errors.Add(hosts[i], responses[i].status()));
      if (!responses[i].ok()) continue;
      for (const std::string& note : AwayNotes(*responses[i])) hosts[i].context.Note(note);
      answers.push_back({hosts[i].name, *std::move(responses[i])});
    }
    if (!answers.empty()) SIDEBAND_RETURN_IF_ERROR(context.out().Write(Text(answers, hosts.size() > 1, context)));
    return errors.Result();
  }

 private:
  std::string Text(const std::vector<DevicesAtHost>& answers, bool are_several, const CommandContext& context) const {
    if (!format_.json() && !format_.csv()) return DevicesTable(answers, context.StyleOf(format_.style));
    std::vector<std::string> objects;
    std::string csv = WithHostColumn(DevicesCsvTitles(), are_several ? "host" : "");
    for (const auto& [host, response] : answers) {
      if (format_.json()) objects.push_back(WithHostMember(ToJson(response), host));
      if (format_.csv()) csv += WithHostColumn(DevicesCsv(response), host);
    }
    return format_.json() ? HostsJson(objects, are_several) : csv;
  }

  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewDevicesCommand() { return std::make_unique<DevicesCommand>(); }

}  // namespace sideband::client

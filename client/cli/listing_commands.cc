// SPDX-License-Identifier: Apache-2.0
//
// `sideband devices`, `events` and `scopes`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "client/cli/command.h"
#include "client/cli/empty_notes.h"
#include "client/cli/formats.h"
#include "client/cli/hosts.h"
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

// Puts contexts behind their VM; the daemon lists all VMs of a device first.
void SortByVm(google::protobuf::RepeatedPtrField<v1::Scope>& scopes) {
  const auto vm_of = [](const v1::Scope& scope) {
    return std::tuple(scope.device(), scope.vm_uuid(), scope.vm(), scope.host());
  };
  std::map<decltype(vm_of(v1::Scope())), size_t> places;
  for (const v1::Scope& scope : scopes) places.try_emplace(vm_of(scope), places.size());
  const auto place_of = [&](const v1::Scope& scope) {
    return std::pair(places.at(vm_of(scope)), !scope.context().empty());
  };
  std::stable_sort(scopes.begin(), scopes.end(),
                   [&](const v1::Scope& a, const v1::Scope& b) { return place_of(a) < place_of(b); });
}

class ScopesCommand final : public Command {
 public:
  std::string name() const override { return "scopes"; }
  std::string description() const override { return "List the VMs and contexts"; }

  void Define(CLI::App& app) override {
    AddDeviceOption(app, devices_);
    format_.AddTo(app);
    app.footer("Example:\n  sideband scopes --device gpu0");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    auto response = ListFor(devices_, [&](const std::string& device) {
      v1::ListScopesRequest request;
      request.set_device(device);
      return client->ListScopes(request);
    });
    if (!response.ok()) return ExplainNotFound(response.status(), {.devices = devices_}, *client);
    auto& listed = *response->mutable_scopes();
    listed.erase(std::remove_if(listed.begin(), listed.end(),
                                [&](const v1::Scope& scope) { return !IsChosen(devices_, scope.device()); }),
                 listed.end());
    SortByVm(listed);
    if (listed.empty()) NoteEmptyListing(devices_, *client, context);
    if (format_.json()) return context.out().Write(ToJson(*response));
    return context.out().Write(format_.csv() ? ScopesCsv(*response)
                                             : ScopesTable(*response, context.StyleOf(format_.style)));
  }

 private:
  std::vector<std::string> devices_;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewDevicesCommand() { return std::make_unique<DevicesCommand>(); }

std::unique_ptr<Command> NewEventsCommand() { return std::make_unique<EventsCommand>(); }

std::unique_ptr<Command> NewScopesCommand() { return std::make_unique<ScopesCommand>(); }

}  // namespace sideband::client

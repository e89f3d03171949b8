// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
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

std::unique_ptr<Command> NewScopesCommand() { return std::make_unique<ScopesCommand>(); }

}  // namespace sideband::client

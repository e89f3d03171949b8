// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/csv_render.h"
#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/selection.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

// The caller's only device.
absl::StatusOr<std::string> OnlyDevice(TelemetryClient& client) {
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListDevicesResponse response, client.ListDevices({}));
  if (response.devices_size() == 1) return response.devices(0).name();
  if (response.devices().empty()) return MarkRemote(absl::NotFoundError("there is no device that this caller may see"));
  const auto name = [](std::string* out, const v1::Device& device) { absl::StrAppend(out, device.name()); };
  return absl::InvalidArgumentError(
      absl::StrCat("--device: there are several: ", absl::StrJoin(response.devices(), ", ", name)));
}

class PeekCommand final : public Command {
 public:
  std::string name() const override { return "peek"; }
  std::string description() const override { return "Print a few counters as they are now, without a snapshot"; }

  void Define(CLI::App& app) override {
    app.add_option("--device", device_, "Of this device; default: the only one")->type_name("NAME");
    CLI::Option* const vm =
        app.add_option("--vm", vm_, "Of this VM, by name or UUID; default: the device itself")->type_name("NAME");
    app.add_option("--context", context_, "Of this context; default: the VM itself")->type_name("NAME")->needs(vm);
    app.add_option("--event", events_, "This event; repeatable, at most 64")
        ->type_name("NAME")
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false)
        ->required();
    format_.AddTo(app);
    app.footer(
        "All counters are of one instant. The device is read for this command alone, which needs the\n"
        "right `peek` beside `read`.\n"
        "Examples:\n"
        "  sideband peek --vm vm1 --context train --event l2_miss_cycles\n"
        "  sideband peek --device gpu0 --vm vm1 --event l2_hit_cycles --event l2_miss_cycles --format json");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    SIDEBAND_ASSIGN_OR_RETURN(const v1::PeekRequest request, Request(*client));
    const auto response = client->Peek(request);
    if (!response.ok()) return Explained(response.status(), *client);
    if (format_.json()) return context.out().Write(ToJson(*response));
    return context.out().Write(format_.csv() ? PeekCsv(*response)
                                             : PeekTable(*response, context.StyleOf(format_.style)));
  }

 private:
  absl::StatusOr<v1::PeekRequest> Request(TelemetryClient& client) const {
    v1::PeekRequest request;
    request.set_device(device_);
    if (device_.empty()) {
      SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), OnlyDevice(client));
    }
    request.set_vm(vm_);
    request.set_context(context_);
    for (const std::string& event : events_) request.add_events(event);
    return request;
  }

  absl::Status Explained(const absl::Status& status, TelemetryClient& client) const {
    // gRPC's own status for a method that the server does not have is without a text.
    if (absl::IsUnimplemented(status) && absl::EndsWith(status.message(), "UNIMPLEMENTED")) {
      return MarkRemote(absl::UnimplementedError("the daemon has no peeks: it is older than this program"));
    }
    FilterOptions names{.events = events_};
    if (!device_.empty()) names.devices = {device_};
    if (!vm_.empty()) names.vms = {vm_};
    const absl::Status explained = ExplainNotFound(status, names, client);
    if (!absl::IsNotFound(explained) || explained.message() != status.message()) return explained;
    // Each name exists for the caller.
    return MarkRemote(absl::NotFoundError(
        absl::StrCat(status.message(), " to peek at; a peek needs the right `peek` beside `read`")));
  }

  std::string device_;
  std::string vm_;
  std::string context_;
  std::vector<std::string> events_;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewPeekCommand() { return std::make_unique<PeekCommand>(); }

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/cli/command.h"
#include "client/cli/formats.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

// The bounds of a request (telemetry.proto).
constexpr size_t kEventsMax = 64;
constexpr uint32_t kSliceMax = 63;

// CLI11 validators: return the error message, or an empty text.
std::string CheckNotEmpty(const std::string& text) { return text.empty() ? "must not be empty" : ""; }

std::string CheckName(const std::string& text) {
  return IsPattern(text) ? absl::StrCat("'", text, "' is a pattern; peek takes exact names") : CheckNotEmpty(text);
}

// Without what the daemon does not fill.
std::string PeekJson(const v1::PeekResponse& response) {
  auto json = nlohmann::ordered_json::parse(ToJson(response), nullptr, /*allow_exceptions=*/false);
  if (!json.contains("counters")) return ToJson(response);
  for (const char* member : {"state", "ratios"}) json["counters"].erase(member);
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

class PeekCommand final : public Command {
 public:
  std::string name() const override { return "peek"; }
  std::string description() const override { return "Print a few counters as they are now, without a snapshot"; }

  void Define(CLI::App& app) override {
    app.add_option("--device", device_, "The device; default: the only one")->check(CheckName)->type_name("NAME");
    CLI::Option* const vm = app.add_option("--vm", vm_, "The VM, by name or UUID; default: the device itself")
                                ->check(CheckName)
                                ->type_name("NAME");
    app.add_option("--context", context_, "The context; default: the VM itself")
        ->check(CheckNotEmpty)
        ->type_name("NAME")
        ->needs(vm);
    app.add_option("--host", host_slice_, "The hypervisor on this slice, instead of a VM")
        ->check(CLI::Range(0u, kSliceMax))
        ->type_name("SLICE")
        ->excludes(vm);
    app.add_option("--event", words_, "An event; repeatable, at most 64")
        ->check(CheckName)
        ->type_name("NAME")
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false)
        ->required();
    format_.AddTo(app);
    app.footer(
        "All counters are read at one instant. Each call reads the device, and needs the right `peek` as well as\n"
        "`read`. Names are exact, without * and ?.\n"
        "Examples:\n"
        "  sideband peek --vm vm1 --context train --event l2_miss_cycles\n"
        "  sideband peek --device gpu0 --vm vm1 --event l2_hit_cycles --event l2_miss_cycles --format json");
  }

  absl::Status Run(CommandContext& context) override {
    TakeHostName();
    SIDEBAND_ASSIGN_OR_RETURN(const std::vector<std::string> events, Events());
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    SIDEBAND_ASSIGN_OR_RETURN(const v1::PeekRequest request, Request(events, *client));
    const auto response = client->Peek(request);
    if (!response.ok()) return Explained(response.status(), request, *client);
    if (format_.json()) return context.out().Write(PeekJson(*response));
    return context.out().Write(format_.csv() ? PeekCsv(*response)
                                             : PeekTable(*response, context.StyleOf(format_.style)));
  }

 private:
  // "(host:3)", as tables name the hypervisor on a slice, is --host 3.
  void TakeHostName() {
    absl::string_view text = vm_;
    uint32_t slice = 0;
    const bool is_host = absl::ConsumePrefix(&text, "(host:") && absl::ConsumeSuffix(&text, ")") &&
                         absl::SimpleAtoi(text, &slice) && slice <= kSliceMax;
    if (!is_host) return;
    host_slice_ = slice;
    vm_.clear();
  }

  // Each once, in their order.
  absl::StatusOr<std::vector<std::string>> Events() const {
    std::vector<std::string> events;
    for (const std::string& word : words_) {
      if (std::ranges::find(events, word) == events.end()) events.push_back(word);
    }
    if (events.size() <= kEventsMax) return events;
    return absl::InvalidArgumentError(
        absl::StrCat("--event: at most ", kEventsMax, " at once, ", events.size(), " are given"));
  }

  absl::StatusOr<v1::PeekRequest> Request(const std::vector<std::string>& events, TelemetryClient& client) const {
    v1::PeekRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOfVm(device_, vm_, client));
    request.set_vm(vm_);
    request.set_context(context_);
    if (host_slice_) request.set_host_slice(*host_slice_);
    for (const std::string& event : events) request.add_events(event);
    return request;
  }

  absl::Status Explained(const absl::Status& status, const v1::PeekRequest& request, TelemetryClient& client) const {
    // gRPC's own status for a method that the server does not have is without a text.
    if (absl::IsUnimplemented(status) && absl::EndsWith(status.message(), "UNIMPLEMENTED")) {
      return MarkRemote(absl::UnimplementedError("the daemon does not support peeks: it is older than this program"));
    }
    FilterOptions names{.context = context_, .events = words_};
    if (!device_.empty()) names.devices = {device_};
    if (!vm_.empty()) names.vms = {vm_};
    const absl::Status explained = ExplainNotFound(status, names, client);
    if (!absl::IsNotFound(explained) || explained.message() != status.message()) return explained;
    return MarkRemote(absl::NotFoundError(absl::StrCat(status.message(), WhyNot(request, client))));
  }

  // Each name exists for the caller, but perhaps not together.
  static std::string WhyNot(const v1::PeekRequest& request, TelemetryClient& client) {
    if (request.has_host_slice()) {
      return absl::StrCat(": the hypervisor on slice ", request.host_slice(),
                          ", which only operators can peek at, on devices with host blocks");
    }
    if (request.vm().empty())
      return ": the device's own counters, which only operators can peek at; name a VM with --vm";
    v1::GetSnapshotRequest read;
    read.mutable_filter()->set_device(request.device());
    read.mutable_filter()->set_vm(request.vm());
    read.mutable_filter()->set_context(request.context());
    *read.mutable_filter()->mutable_events() = request.events();
    if (!absl::IsNotFound(client.GetSnapshot(read).status())) {
      return " to peek at; a peek needs the right `peek` as well as `read`";
    }
    return absl::StrCat(": ", absl::StrJoin(request.events(), ", "), " of VM '", request.vm(), "'",
                        request.context().empty() ? "" : absl::StrCat(", context '", request.context(), "'"), " on ",
                        request.device());
  }

  std::string device_;
  std::string vm_;
  std::string context_;
  std::optional<uint32_t> host_slice_;
  std::vector<std::string> words_;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewPeekCommand() { return std::make_unique<PeekCommand>(); }

}  // namespace sideband::client

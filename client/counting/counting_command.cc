// SPDX-License-Identifier: Apache-2.0
#include "client/counting/counting_command.h"

#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/json.h"
#include "client/cli/only_device.h"
#include "client/cli/options.h"
#include "client/counting/counting_change.h"
#include "client/counting/counting_text.h"
#include "client/counting/explain.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

// A device follows within two of its intervals, which are a second by default.
constexpr absl::Duration kFollowMax = absl::Seconds(30);
constexpr absl::Duration kAskAgain = absl::Milliseconds(200);

absl::Status Explained(const absl::Status& status) {
  // gRPC's own status for a method that the server does not have is without a text.
  if (absl::IsUnimplemented(status) && absl::EndsWith(status.message(), "UNIMPLEMENTED")) {
    return MarkRemote(absl::UnimplementedError("the daemon cannot configure counting: it is older than this program"));
  }
  if (!absl::IsNotFound(status)) return status;
  return MarkRemote(absl::NotFoundError(
      absl::StrCat(status.message(), ": no such device, no gate groups on it, or no right `configure` on a VM of it")));
}

class CountingCommand final : public Command {
 public:
  std::string name() const override { return "counting"; }
  std::string description() const override { return "Show and change who is counted, and what"; }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  sideband counting show\n"
        "  sideband counting set --vm vm1 --value tlb,memory\n"
        "  sideband counting explain --vm vm1 --event tlb_misses");
    DefineShow(*app.add_subcommand("show", "Print the gate groups and what each VM may count"));
    DefineSet(*app.add_subcommand("set", "Change them, without losing a count"));
    DefineExplain(*app.add_subcommand("explain", "Say why an event is counted for a VM, or is not"));
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    SIDEBAND_ASSIGN_OR_RETURN(const v1::GetCountingResponse actual, Get(*client));
    if (set_->parsed()) return Set(actual, *client, context);
    if (explain_->parsed()) return ExplainEvent(actual, context);
    return context.out().Write(format_.json() ? ToJson(actual) : CountingText(actual, context.StyleOf(format_.style)));
  }

 private:
  void AddDevice(CLI::App& app) {
    app.add_option("--device", device_, "On this device; default: the only one")->type_name("NAME");
  }

  void DefineShow(CLI::App& app) {
    AddDevice(app);
    format_.AddWithoutCsvTo(app);
  }

  void DefineSet(CLI::App& app) {
    set_ = &app;
    AddDevice(app);
    change_.AddTo(app);
    app.footer(
        "GROUPS are all, none, or names with commas. Ends when the change is in force.\n"
        "Examples:\n"
        "  sideband counting set --vm vm1 --allow tlb,memory --pin memory\n"
        "  sideband counting set --vm vm1 --context train --value tlb\n"
        "  sideband counting set --group host --valid off");
  }

  void DefineExplain(CLI::App& app) {
    explain_ = &app;
    AddDevice(app);
    app.add_option("--vm", question_.vm, "For this VM")->type_name("NAME")->required();
    app.add_option("--context", question_.context, "For this context of it")->type_name("NAME");
    app.add_option("--event", question_.event, "This event")->type_name("NAME")->required();
  }

  absl::StatusOr<v1::GetCountingResponse> Get(TelemetryClient& client) {
    v1::GetCountingRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOr(device_, client));
    auto response = client.GetCounting(request);
    if (!response.ok()) return Explained(response.status());
    return response;
  }

  absl::Status ExplainEvent(const v1::GetCountingResponse& actual, CommandContext& context) const {
    const auto explanation = Explain(actual, question_);
    if (!explanation.ok()) return MarkRemote(explanation.status());
    return context.out().Write(ExplanationText(question_, *explanation, context.StyleOf({})));
  }

  absl::Status Set(const v1::GetCountingResponse& actual, TelemetryClient& client, CommandContext& context) {
    SIDEBAND_ASSIGN_OR_RETURN(const v1::SetCountingRequest request, change_.Request(actual));
    const auto response = client.SetCounting(request);
    if (!response.ok()) return response.status();
    if (!response->refused().empty()) return Refused(*response);
    if (request.validate_only()) return context.out().Write("nothing would be refused\n");
    SIDEBAND_RETURN_IF_ERROR(Await(client, context));
    if (response->settings_stored()) return absl::OkStatus();
    return context.out().Write("not stored: once sidebandd and the device have restarted, the change is undone\n");
  }

  static absl::Status Refused(const v1::SetCountingResponse& response) {
    std::string text = "nothing was changed";
    for (const v1::RefusedField& refused : response.refused()) {
      absl::StrAppend(&text, "; ", refused.field(), ": ", refused.reason());
    }
    return MarkRemote(absl::FailedPreconditionError(text));
  }

  absl::Status Await(TelemetryClient& client, CommandContext& context) {
    const absl::Time end = context.Now() + kFollowMax;
    while (true) {
      SIDEBAND_ASSIGN_OR_RETURN(const v1::GetCountingResponse now, Get(client));
      if (now.in_sync()) return context.out().Write(absl::StrCat("revision ", now.revision(), " is in force\n"));
      if (context.Now() >= end) {
        return MarkRemote(absl::DeadlineExceededError("the device has not taken the change yet; the daemon goes on"));
      }
      if (context.Wait(kAskAgain)) return absl::CancelledError("stopped waiting; the daemon goes on");
    }
  }

  CLI::App* set_ = nullptr;
  CLI::App* explain_ = nullptr;
  std::string device_;
  CountingChange change_;
  ExplainQuestion question_;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewCountingCommand() { return std::make_unique<CountingCommand>(); }

}  // namespace sideband::client

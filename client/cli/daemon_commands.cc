// SPDX-License-Identifier: Apache-2.0
//
// `sideband health`, for probes, and `sideband admin`: what operators on the daemon's machine may do.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/builtin_commands.h"
#include "client/cli/selection.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

class HealthCommand final : public Command {
 public:
  std::string name() const override { return "health"; }
  std::string description() const override { return "Check that the daemon serves a fresh device"; }

  void Define(CLI::App& app) override {
    app.add_flag("--alive", accepts_idle_, "Succeed if the daemon answers, even without a fresh device");
    app.footer(
        "The exit status is 0, or 1 if the check fails. The daemon does not audit the call.\n"
        "Example:\n  sideband health --address unix:/run/sideband/grpc.sock");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    SIDEBAND_ASSIGN_OR_RETURN(const bool serving, client->IsServing());
    if (serving) return context.out().Write("serving\n");
    if (accepts_idle_) return context.out().Write("alive, no device is fresh\n");
    return MarkRemote(absl::UnavailableError("no device is fresh"));
  }

 private:
  bool accepts_idle_ = false;
};

std::string OutcomeText(const v1::ReloadResponse& response) {
  std::string text = absl::StrCat("policy generation ", response.policy_version(), " is in force\n");
  for (const std::string& setting : response.needs_restart()) {
    absl::StrAppend(&text, setting, " has changed; it takes effect only after a restart\n");
  }
  return text;
}

// Empty if the text is a number of cycles.
std::string CheckCycles(const std::string& text) {
  uint64_t cycles = 0;
  return absl::SimpleAtoi(text, &cycles) && cycles > 0 ? "" : absl::StrCat("'", text, "' is not a number of cycles");
}

class AdminCommand final : public Command {
 public:
  std::string name() const override { return "admin"; }
  std::string description() const override {
    return "Reload the daemon's files, trigger a device, and rotate a VM's keys";
  }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer(
        "For local operators, over the daemon's Unix socket.\n"
        "Examples:\n"
        "  sideband --address unix:/run/sideband/grpc.sock admin reload\n"
        "  sideband --address unix:/run/sideband/grpc.sock admin trigger --device gpu0 --every 65536\n"
        "  sideband --address unix:/run/sideband/grpc.sock admin trigger --device gpu0 --select sm\n"
        "  sideband --address unix:/run/sideband/grpc.sock admin rotate-keys --vm vm3");
    reload_ = app.add_subcommand("reload", "Read all files of the daemon again, as SIGHUP does");
    DefineTrigger(*app.add_subcommand("trigger", "Make a device swap its counters' banks; no count is lost"));
    DefineRotateKeys(*app.add_subcommand("rotate-keys", "Begin a new epoch of the keys that a VM has exchanged"));
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    if (rotate_keys_->parsed()) return RotateKeys(*client, context);
    return reload_->parsed() ? Reload(*client, context) : Trigger(*client, context);
  }

 private:
  void DefineTrigger(CLI::App& app) {
    app.add_option("--device", device_, "This device; default: the only one")->type_name("NAME");
    auto* const every = app.add_option("--every", period_, "Also trigger every CYCLES reference cycles")
                            ->type_name("CYCLES")
                            ->check(CLI::Validator(CheckCycles, ""));
    auto* const stop = app.add_flag("--stop", is_stop_, "Stop the triggers that --every started")->excludes(every);
    app.add_option("--select", domains_, "Do not trigger: choose the clocks that answer triggers from now on, or 'all'")
        ->type_name("DOMAIN")
        ->excludes(every)
        ->excludes(stop);
  }

  void DefineRotateKeys(CLI::App& app) {
    rotate_keys_ = &app;
    app.add_option("--vm", vm_, "The VM, by name or UUID")->required()->type_name("VM");
    app.add_option("--device", device_, "The device on which the VM is; default: the only one")->type_name("NAME");
  }

  static absl::Status Reload(TelemetryClient& client, CommandContext& context) {
    SIDEBAND_ASSIGN_OR_RETURN(const v1::ReloadResponse response, client.Reload({}));
    if (response.errors().empty()) return context.out().Write(OutcomeText(response));
    return MarkRemote(
        absl::FailedPreconditionError(absl::StrCat("nothing was changed; ", absl::StrJoin(response.errors(), "; "))));
  }

  absl::Status Trigger(TelemetryClient& client, CommandContext& context) const {
    v1::TriggerRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOr(device_, client));
    if (is_stop_) request.set_period_cycles(0);
    if (period_) request.set_period_cycles(*period_);
    if (!domains_.empty()) Select(*request.mutable_select());
    SIDEBAND_ASSIGN_OR_RETURN(const v1::TriggerResponse response, client.Trigger(request));
    if (!domains_.empty()) {
      return context.out().Write(absl::StrCat("answered by ", absl::StrJoin(domains_, ", "), "\n"));
    }
    if (is_stop_) return context.out().Write("only the device's own triggers remain\n");
    if (period_) return context.out().Write(absl::StrCat("triggered every ", *period_, " cycles\n"));
    return context.out().Write(absl::StrCat("trigger ", response.trigger_id(), "\n"));
  }

  absl::Status RotateKeys(TelemetryClient& client, CommandContext& context) const {
    v1::RotateKeysRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOr(device_, client));
    request.set_vm(vm_);
    SIDEBAND_ASSIGN_OR_RETURN(const v1::RotateKeysResponse response, client.RotateKeys(request));
    return context.out().Write(absl::StrCat("epoch ", response.epoch(), " begins\n"));
  }

  void Select(v1::DomainSelection& selection) const {
    if (domains_ == std::vector<std::string>{"all"}) return;
    for (const std::string& domain : domains_) selection.add_domains(domain);
  }

  CLI::App* reload_ = nullptr;
  CLI::App* rotate_keys_ = nullptr;
  std::string device_;
  std::string vm_;
  std::optional<uint64_t> period_;
  bool is_stop_ = false;
  std::vector<std::string> domains_;
};

}  // namespace

std::unique_ptr<Command> NewHealthCommand() { return std::make_unique<HealthCommand>(); }

std::unique_ptr<Command> NewAdminCommand() { return std::make_unique<AdminCommand>(); }

}  // namespace sideband::client

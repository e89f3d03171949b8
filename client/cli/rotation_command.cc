// SPDX-License-Identifier: Apache-2.0
#include "client/cli/rotation_command.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/cli/formats.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/table.h"
#include "client/lib/rpc_status.h"
#include "client/lib/telemetry_client.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/rotation_file.h"

namespace sideband::client {
namespace {

using enum Table::Align;

// counting.proto, RotationRow.Part.
constexpr uint32_t kForgottenPlan = 0xFFFF;

// "two-set", "rotated": the end of an enumerator's name.
std::string Word(absl::string_view name, absl::string_view prefix) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(absl::StripPrefix(name, prefix)), {{"_", "-"}});
}

std::string Time(const google::protobuf::Duration& time) { return absl::FormatDuration(ToDuration(time)); }

std::string PlanTable(const v1::GetRotationResponse& response, const TableStyle& style) {
  Table table({{"PLAN", kRight},
               {"PROFILE"},
               {"SETS", kRight},
               {"SETS/PASS", kRight, Table::Fit::kIfAny},
               {"PASSES", kRight, Table::Fit::kIfAny},
               {"STABLE", kRight},
               {"FLUCTUATING", kRight},
               {"ADAPTS"}});
  for (const v1::RotationPlan& plan : response.plans()) {
    const v1::RotationSettings& settings = plan.settings();
    const bool has_passes = plan.passes() > 1;
    table.Add(
        {absl::StrCat(plan.number()), Word(v1::RotationSettings::Profile_Name(settings.profile()), "PROFILE_"),
         absl::StrCat(plan.sets_size()), has_passes ? absl::StrCat(settings.sets_per_pass()) : "",
         has_passes ? absl::StrCat(plan.passes()) : "", settings.has_stable_slot() ? Time(settings.stable_slot()) : "",
         settings.has_fluctuating_slot() ? Time(settings.fluctuating_slot()) : "", settings.adapt() ? "yes" : "no"});
  }
  return table.Render(style);
}

// The plans of a row: "0" or "0,3", and "earlier" for those that the device has forgotten.
std::string PlansOf(const v1::RotationRow& row) {
  return absl::StrJoin(row.parts(), ",", [](std::string* out, const auto& part) {
    absl::StrAppend(out, part.plan() == kForgottenPlan ? "earlier" : absl::StrCat(part.plan()));
  });
}

constexpr char kChecked[] =
    "the daemon would pass it to the device, which itself checks the slot lengths, counters and sets\n";

constexpr char kLearns[] =
    "the device stores the run's periods when the present run ends; with profile two-set, when the next run ends, "
    "which is a first run again\n";

absl::Status Explained(const absl::Status& status, absl::string_view right) {
  // gRPC's own status for a method that the server does not have is without a text.
  if (absl::IsUnimplemented(status) && absl::EndsWith(status.message(), "UNIMPLEMENTED")) {
    return MarkRemote(absl::UnimplementedError("the daemon does not support rotation: it is older than this program"));
  }
  if (!absl::IsNotFound(status)) return status;
  return MarkRemote(absl::NotFoundError(absl::StrCat(
      status.message(), ": it does not exist, no event is multiplexed, or you lack the right `", right, "`")));
}

// Names events that the caller does not see, as far as the request was refused for them.
absl::Status ExplainedEvents(const absl::Status& status, const v1::SetRotationRequest& request,
                             TelemetryClient& client) {
  FilterOptions names{.devices = {request.device()}, .vms = {}, .context = {}, .events = {}};
  names.events.assign(request.events().begin(), request.events().end());
  names.events.insert(names.events.end(), request.always().begin(), request.always().end());
  for (const auto& [event, weight] : request.settings().weights()) names.events.push_back(event);
  const absl::Status explained = ExplainNotFound(status, names, client);
  return explained.message() == status.message() ? Explained(status, "rotate") : explained;
}

class RotationCommand final : public Command {
 public:
  std::string name() const override { return "rotation"; }
  std::string description() const override {
    return "Show and change which events are multiplexed on a device's counters";
  }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  sideband rotation show --vm vm1\n"
        "  sideband rotation set rotation.yaml --vm vm1 --context train\n"
        "  sideband rotation learn --vm vm1 --context train");
    CLI::App& show = *app.add_subcommand("show", "Print the share of the time in which each event was counted");
    plan_ = app.add_subcommand("plan", "Print which events are counted together");
    for (CLI::App* const shown : {&show, plan_}) {
      AddScope(*shown);
      shown->add_option("--context", context_, "Only this context")->type_name("NAME");
      format_.AddWithoutCsvTo(*shown);
    }
    DefineSet(
        *app.add_subcommand("set", "Change the rotation, from each context's next residency on; no count is lost"));
    DefineLearn(*app.add_subcommand("learn", "Learn when a run fluctuates, to choose the slot lengths of later runs"));
  }

  absl::Status Run(CommandContext& context) override {
    if (set_->parsed()) return Set(context);
    if (learn_->parsed()) return Learn(context);
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::GetRotationRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOfVm(device_, vm_, *client));
    request.set_vm(vm_);
    request.set_context(context_);
    const auto response = client->GetRotation(request);
    if (!response.ok()) return Explained(response.status(), "read");
    if (format_.json()) return context.out().Write(ToJson(*response));
    const TableStyle style = context.StyleOf(format_.style);
    return context.out().Write(plan_->parsed() ? PlansText(*response, style) : RotationText(*response, style));
  }

 private:
  void AddScope(CLI::App& app) {
    app.add_option("--device", device_, "The device; default: the only one")->type_name("NAME");
    app.add_option("--vm", vm_, "The VM, by name or UUID")->type_name("NAME");
  }

  void DefineSet(CLI::App& app) {
    set_ = &app;
    AddScope(app);
    app.get_option("--vm")->required();
    app.add_option("file", file_,
                   "YAML: profile, slots, interval, threshold, step, sets_per_pass, adapt, weights, events, always")
        ->type_name("FILE")
        ->required();
    app.add_option("--context", contexts_, "Only these contexts of the VM")->type_name("NAME");
    app.add_flag("--check", is_check_, "Only say whether the daemon would pass the file to the device");
  }

  void DefineLearn(CLI::App& app) {
    learn_ = &app;
    AddScope(app);
    app.get_option("--vm")->required();
    app.add_option("--context", context_, "The context; default: the VM outside of its contexts")->type_name("NAME");
  }

  absl::Status Learn(CommandContext& context) const {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::LearnRotationRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOfVm(device_, vm_, *client));
    request.set_vm(vm_);
    request.set_context(context_);
    const auto response = client->LearnRotation(request);
    if (!response.ok()) return Explained(response.status(), "rotate");
    return context.out().Write(kLearns);
  }

  absl::Status Set(CommandContext& context) const {
    SIDEBAND_ASSIGN_OR_RETURN(const RotationFile file, LoadRotationFile(file_, RotationUse::kRequest));
    v1::SetRotationRequest request = RequestOf(file);
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOfVm(device_, vm_, *client));
    request.set_vm(vm_);
    for (const std::string& name : contexts_) request.add_contexts(name);
    request.set_validate_only(is_check_);
    const auto response = client->SetRotation(request);
    if (!response.ok()) return ExplainedEvents(response.status(), request, *client);
    return context.out().Write(is_check_ ? kChecked : "in force on the device\n");
  }

  CLI::App* set_ = nullptr;
  CLI::App* learn_ = nullptr;
  CLI::App* plan_ = nullptr;
  std::string device_;
  std::string vm_;
  std::string context_;
  std::vector<std::string> contexts_;
  std::string file_;
  bool is_check_ = false;
  FormatOption format_;
};

constexpr double kPerUnit = 1000;

void SetTime(absl::Duration time, google::protobuf::Duration& out) {
  out.set_seconds(absl::IDivDuration(time, absl::Seconds(1), &time));
  out.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(time)));
}

v1::RotationSettings::Profile ProfileOf(mailbox::RotationProfile profile) {
  switch (profile) {
    case mailbox::RotationProfile::kFast:
      return v1::RotationSettings::PROFILE_FAST;
    case mailbox::RotationProfile::kTwoSet:
      return v1::RotationSettings::PROFILE_TWO_SET;
  }
  return v1::RotationSettings::PROFILE_UNSPECIFIED;
}

void FillSettings(const RotationTerms& terms, v1::RotationSettings& out) {
  out.set_profile(ProfileOf(terms.profile));
  SetTime(terms.stable_slot, *out.mutable_stable_slot());
  SetTime(terms.fluctuating_slot, *out.mutable_fluctuating_slot());
  SetTime(terms.interval, *out.mutable_interval());
  out.set_threshold(terms.threshold_per_mille / kPerUnit);
  out.set_step(terms.step);
  out.set_sets_per_pass(terms.sets_per_pass);
  out.set_adapt(terms.adapt);
}

void AddNames(const std::vector<NamedEvent>& events, google::protobuf::RepeatedPtrField<std::string>& out) {
  for (const NamedEvent& event : events) *out.Add() = event.name;
}

}  // namespace

std::string RotationText(const v1::GetRotationResponse& response, const TableStyle& style) {
  Table table({{"VM", kLeft, Table::Fit::kMiddle},
               {"CONTEXT", kLeft, Table::Fit::kIfAny},
               {"EVENT", kLeft, Table::Fit::kMiddle},
               {"COUNTING"},
               {"COVERAGE", kRight},
               {"PLAN", kRight}});
  for (const v1::RotationRow& row : response.rows()) {
    for (const auto& event : row.events()) {
      table.Add({VmText(row.scope()), row.scope().context(), event.event(),
                 Word(v1::Event::Counting_Name(event.counting()), "COUNTING_"), CoverageText(event.coverage(), style),
                 PlansOf(row)});
    }
  }
  return absl::StrCat(PlanTable(response, style), "\n", table.Render(style));
}

std::string PlansText(const v1::GetRotationResponse& response, const TableStyle& style) {
  Table table({{"PLAN", kRight}, {"SET", kRight}, {"EVENTS", kLeft, Table::Fit::kEnd}});
  for (const v1::RotationPlan& plan : response.plans()) {
    for (int set = 0; set < plan.sets_size(); ++set) {
      table.Add({absl::StrCat(plan.number()), absl::StrCat(set), absl::StrJoin(plan.sets(set).events(), ",")});
    }
  }
  return absl::StrCat(PlanTable(response, style), "\n", table.Render(style));
}

std::unique_ptr<Command> NewRotationCommand() { return std::make_unique<RotationCommand>(); }

v1::SetRotationRequest RequestOf(const RotationFile& file) {
  v1::SetRotationRequest request;
  FillSettings(file.terms, *request.mutable_settings());
  for (const EventWeight& weight : file.weights) {
    (*request.mutable_settings()->mutable_weights())[weight.event.name] = weight.per_mille / kPerUnit;
  }
  AddNames(file.events, *request.mutable_events());
  AddNames(file.always, *request.mutable_always());
  return request;
}

}  // namespace sideband::client

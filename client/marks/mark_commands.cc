// SPDX-License-Identifier: Apache-2.0
#include "client/marks/mark_commands.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/time/time.h"
#include "client/cli/json.h"
#include "client/cli/only_device.h"
#include "client/cli/options.h"
#include "client/cli/selection.h"
#include "client/marks/mark_text.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"

namespace sideband::client {
namespace {

constexpr absl::Duration kPendingMax = absl::Seconds(10);
constexpr absl::Duration kPendingPoll = absl::Milliseconds(100);

// Whether one of the span's marks will be read with the next snapshot.
bool IsPending(const v1::GetSpanRequest& span, TelemetryClient& client) {
  v1::ListMarksRequest request;
  request.set_device(span.device());
  request.set_vm(span.vm());
  const auto response = client.ListMarks(request);
  if (!response.ok()) return false;
  return absl::c_any_of(response->marks(), [&](const v1::MarkInfo& mark) {
    const bool is_of_span = mark.mark_id() == span.from_mark() || mark.mark_id() == span.to_mark();
    return is_of_span && mark.state() == v1::MarkInfo::STATE_PENDING;
  });
}

void AwaitMarks(const v1::GetSpanRequest& span, TelemetryClient& client) {
  const absl::Duration end = SteadyNow() + kPendingMax;
  while (SteadyNow() < end && IsPending(span, client)) {
    if (!SteadySleep(kPendingPoll)) return;
  }
}

// What the daemon does not find, named.
absl::Status Explained(const absl::Status& status, const std::string& vm, const std::string& context,
                       const std::vector<std::string>& events, TelemetryClient& client) {
  FilterOptions names{.devices = {}, .vms = {}, .context = context, .events = events};
  if (!vm.empty()) names.vms = {vm};
  return ExplainNotFound(status, names, client);
}

class MarkCommand final : public Command {
 public:
  std::string name() const override { return "mark"; }
  std::string description() const override { return "Mark an instant of a VM's work"; }

  void Define(CLI::App& app) override {
    app.add_option("--device", device_, "On this device; default: the only one")->type_name("NAME");
    app.add_option("--vm", vm_, "Of this VM, by name or UUID")->type_name("NAME")->required();
    app.add_option("--context", context_, "Of this context; default: the VM itself")->type_name("NAME");
    app.add_option("label", label_, "What the mark is for")->type_name("LABEL");
    format_.AddWithoutCsvTo(app);
    app.footer(
        "What was counted until the instant comes with the next snapshot. Needs the right `mark`.\n"
        "Example:\n  sideband mark --vm vm1 --context train \"epoch 3 begins\"");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::MarkRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOfVm(device_, vm_, *client));
    request.set_vm(vm_);
    request.set_context(context_);
    request.set_label(label_);
    const auto response = client->Mark(request);
    if (!response.ok()) return Explained(response.status(), vm_, context_, {}, *client);
    return context.out().Write(format_.json() ? ToJson(*response) : MarkLine(response->mark()));
  }

 private:
  std::string device_, vm_, context_, label_;
  FormatOption format_;
};

class MarksCommand final : public Command {
 public:
  std::string name() const override { return "marks"; }
  std::string description() const override { return "List the marks of VMs' work"; }

  void Define(CLI::App& app) override {
    app.add_option("--device", device_, "Of this device")->type_name("NAME");
    app.add_option("--vm", vm_, "Of this VM, by name or UUID")->type_name("NAME");
    app.add_option("--context", context_, "Of this context")->type_name("NAME");
    format_.AddWithoutCsvTo(app);
    app.footer("Example:\n  sideband marks --vm vm1 --format json");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::ListMarksRequest request;
    request.set_device(device_);
    request.set_vm(vm_);
    request.set_context(context_);
    const auto response = client->ListMarks(request);
    if (!response.ok()) return Explained(response.status(), vm_, context_, {}, *client);
    if (format_.json()) return context.out().Write(ToJson(*response));
    return context.out().Write(MarksTable(*response, context.StyleOf(format_.style)));
  }

 private:
  std::string device_, vm_, context_;
  FormatOption format_;
};

class SpanCommand final : public Command {
 public:
  std::string name() const override { return "span"; }
  std::string description() const override { return "Print what was counted between two marks, exactly"; }

  void Define(CLI::App& app) override {
    app.add_option("--device", device_, "On this device; default: the only one")->type_name("NAME");
    app.add_option("--vm", vm_, "Of this VM, by name or UUID")->type_name("NAME")->required();
    app.add_option("--from", from_, "From this mark, by its number")->type_name("MARK")->required();
    app.add_option("--to", to_, "To this mark")->type_name("MARK")->required();
    app.add_option("--event", events_, "This event; repeatable")
        ->type_name("NAME")
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    format_.AddWithoutCsvTo(app);
    app.footer(
        "Waits up to ten seconds for the marks to be read.\n"
        "Example:\n  sideband span --vm vm1 --from 3 --to 4 --event sm_active_cycles");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::GetSpanRequest request;
    SIDEBAND_ASSIGN_OR_RETURN(*request.mutable_device(), DeviceOfVm(device_, vm_, *client));
    request.set_vm(vm_);
    request.set_from_mark(from_);
    request.set_to_mark(to_);
    for (const std::string& event : events_) request.add_events(event);
    AwaitMarks(request, *client);
    const auto response = client->GetSpan(request);
    if (!response.ok()) return Explained(response.status(), vm_, "", events_, *client);
    if (format_.json()) return context.out().Write(ToJson(*response));
    return context.out().Write(SpanTable(*response, context.StyleOf(format_.style)));
  }

 private:
  std::string device_, vm_;
  uint64_t from_ = 0, to_ = 0;
  std::vector<std::string> events_;
  FormatOption format_;
};

class ClocksCommand final : public Command {
 public:
  std::string name() const override { return "clocks"; }
  std::string description() const override { return "Print what is known of devices' clocks"; }

  void Define(CLI::App& app) override {
    app.add_option("--device", device_, "Of this device")->type_name("NAME");
    format_.AddWithoutCsvTo(app);
    app.footer(
        "For operators. Bounds are as true as what the device declares of its clocks.\n"
        "Example:\n  sideband clocks --device gpu0");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::ListClocksRequest request;
    request.set_device(device_);
    const auto response = client->ListClocks(request);
    if (!response.ok()) return Explained(response.status(), "", "", {}, *client);
    if (format_.json()) return context.out().Write(ToJson(*response));
    return context.out().Write(ClocksTable(*response, context.StyleOf(format_.style)));
  }

 private:
  std::string device_;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewMarkCommand() { return std::make_unique<MarkCommand>(); }
std::unique_ptr<Command> NewMarksCommand() { return std::make_unique<MarksCommand>(); }
std::unique_ptr<Command> NewSpanCommand() { return std::make_unique<SpanCommand>(); }
std::unique_ptr<Command> NewClocksCommand() { return std::make_unique<ClocksCommand>(); }

}  // namespace sideband::client

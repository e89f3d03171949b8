// SPDX-License-Identifier: Apache-2.0
#include "client/cli/mark_commands.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/cli/formats.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/table.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

using enum Table::Align;
constexpr uint64_t kBillion = 1'000'000'000;

// "12.345678901 s".
std::string SecondsText(uint64_t nanoseconds) {
  return absl::StrFormat("%d.%09d s", nanoseconds / kBillion, nanoseconds % kBillion);
}

std::string WhereText(const v1::Scope& scope) {
  return scope.context().empty() ? VmText(scope) : absl::StrCat(VmText(scope), "/", scope.context());
}

std::string MarkStateText(v1::MarkInfo::State state) {
  return absl::AsciiStrToLower(absl::StripPrefix(v1::MarkInfo::State_Name(state), "STATE_"));
}

// "2026-11-21T12:34:07.958123Z ±4us": the bound is of the time as it is shown.
std::string HostText(const v1::MarkInfo& mark) {
  if (!mark.has_host_time()) return "";
  return absl::StrCat(absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", ToTime(mark.host_time()), absl::UTCTimeZone()), " ±",
                      absl::FormatDuration(absl::Ceil(ToDuration(mark.host_time_error()) + absl::Nanoseconds(999),
                                                      absl::Microseconds(1))));
}

std::string ClockNotes(const v1::Clock& clock) {
  std::vector<std::string> notes;
  if (clock.withheld()) notes.emplace_back("withheld");
  if (clock.stopped()) notes.emplace_back("stopped");
  if (clock.unsound()) notes.emplace_back("unsound");
  if (!clock.announces_changes()) notes.emplace_back("silent");
  return absl::StrJoin(notes, ",");
}

std::string FrequencyText(const v1::Clock& clock) {
  if (!clock.has_hertz_lower()) return "";
  const double middle = (clock.hertz_lower() + clock.hertz_upper()) / 2;
  return absl::StrFormat("%.6f MHz ±%.3f Hz", middle / 1e6, (clock.hertz_upper() - clock.hertz_lower()) / 2);
}

std::string BoundText(const v1::Clock& clock) {
  return clock.has_error_bound_seconds() ? absl::StrFormat("±%.3f ns", clock.error_bound_seconds() * 1e9) : "";
}

std::string OffsetText(const std::string& device, const v1::LineOffset& offset) {
  const bool is_behind = offset.offset_ns() < 0;
  const auto nanoseconds = static_cast<uint64_t>(offset.offset_ns());
  std::string text = absl::StrCat(
      device, ": on the trigger line, its reference clock is ", SecondsText(is_behind ? -nanoseconds : nanoseconds),
      is_behind ? " behind" : " ahead of", " that of ", offset.driver(), ", ±", offset.error_ns(), " ns");
  if (offset.has_ppm_lower()) {
    absl::StrAppendFormat(&text, "; it is off by %.3f to %.3f ppm from it", offset.ppm_lower(), offset.ppm_upper());
  }
  return absl::StrCat(text, "\n");
}

// A CLI11 validator: returns the error message, or an empty text.
std::string CheckMarkNumber(const std::string& text) {
  uint64_t number = 0;
  return absl::SimpleAtoi(text, &number)
             ? ""
             : absl::StrCat("'", text, "' is not the number of a mark; `sideband marks` lists them");
}

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

// A list for FilterOptions, of an option that may be missing.
std::vector<std::string> ListOf(const std::string& name) {
  return name.empty() ? std::vector<std::string>() : std::vector<std::string>{name};
}

// Names what the daemon does not find. If the caller sees each of the names, `hint` is what else the call needs.
absl::Status Explained(const absl::Status& status, const FilterOptions& names, absl::string_view hint,
                       TelemetryClient& client) {
  const absl::Status explained = ExplainNotFound(status, names, client);
  if (!absl::IsNotFound(explained) || explained.message() != status.message()) return explained;
  return MarkRemote(absl::NotFoundError(absl::StrCat(status.message(), hint)));
}

class MarkCommand final : public Command {
 public:
  std::string name() const override { return "mark"; }
  std::string description() const override { return "Mark an instant of a VM's work"; }

  void Define(CLI::App& app) override {
    app.add_option("--device", device_, "The device; default: the only one")->type_name("NAME");
    app.add_option("--vm", vm_, "The VM, by name or UUID")->type_name("NAME")->required();
    app.add_option("--context", context_, "The context; default: the VM itself")->type_name("NAME");
    app.add_option("label", label_, "What the mark is for")->type_name("LABEL");
    format_.AddWithoutCsvTo(app);
    app.footer(
        "The counts at the instant come with the next snapshot. Needs the right `mark`.\n"
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
    if (!response.ok())
      return Explained(response.status(), {.devices = ListOf(device_), .vms = {vm_}, .context = context_},
                       ": the caller sees the VM; a mark needs the right `mark`, and one context of that name",
                       *client);
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
    app.add_option("--device", device_, "Only this device")->type_name("NAME");
    app.add_option("--vm", vm_, "Only this VM, by name or UUID")->type_name("NAME");
    app.add_option("--context", context_, "Only this context")->type_name("NAME");
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
    if (!response.ok())
      return Explained(response.status(), {.devices = ListOf(device_), .vms = ListOf(vm_), .context = context_},
                       " whose marks this caller may read", *client);
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
    app.add_option("--device", device_, "The device; default: the only one")->type_name("NAME");
    app.add_option("--vm", vm_, "The VM, by name or UUID")->type_name("NAME")->required();
    app.add_option("--from", from_, "From this mark, by its number")
        ->check(CheckMarkNumber)
        ->type_name("MARK")
        ->required();
    app.add_option("--to", to_, "To this mark")->check(CheckMarkNumber)->type_name("MARK")->required();
    app.add_option("--event", events_, "An event; repeatable")
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
    if (!response.ok())
      return Explained(response.status(), {.devices = ListOf(device_), .vms = {vm_}, .events = events_}, WhyNoSpan(),
                       *client);
    if (format_.json()) return context.out().Write(ToJson(*response));
    return context.out().Write(SpanTable(*response, context.StyleOf(format_.style)));
  }

 private:
  std::string WhyNoSpan() const {
    const auto pattern = absl::c_find_if(events_, IsPattern);
    if (pattern == events_.end()) return ", or no such mark: sideband marks lists them";
    return absl::StrCat(": event '", *pattern, "' (--event of span takes a name without * and ?)");
  }

  std::string device_, vm_;
  uint64_t from_ = 0, to_ = 0;
  std::vector<std::string> events_;
  FormatOption format_;
};

class ClocksCommand final : public Command {
 public:
  std::string name() const override { return "clocks"; }
  std::string description() const override { return "Print devices' clocks: rates and error bounds"; }

  void Define(CLI::App& app) override {
    app.add_option("--device", device_, "Only this device")->type_name("NAME");
    format_.AddWithoutCsvTo(app);
    app.footer(
        "For operators. The bounds hold if the device declares its clocks correctly.\n"
        "Example:\n  sideband clocks --device gpu0");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    v1::ListClocksRequest request;
    request.set_device(device_);
    const auto response = client->ListClocks(request);
    if (!response.ok())
      return Explained(response.status(), {.devices = ListOf(device_)}, ": clocks are for operators", *client);
    if (format_.json()) return context.out().Write(ToJson(*response));
    return context.out().Write(ClocksTable(*response, context.StyleOf(format_.style)));
  }

 private:
  std::string device_;
  FormatOption format_;
};

}  // namespace

std::string MarkLine(const v1::MarkInfo& mark) {
  return absl::StrCat("mark ", mark.mark_id(), " of ", WhereText(mark.scope()), ", asked for at ",
                      SecondsText(mark.requested_ns()), mark.label().empty() ? "" : ": ", Visible(mark.label()), "\n");
}

std::string MarksTable(const v1::ListMarksResponse& response, const TableStyle& style) {
  Table table({{"DEVICE"}, {"MARK", kRight}, {"VM"}, {"CONTEXT"}, {"STATE"}, {"AT", kRight}, {"HOST TIME"}, {"LABEL"}});
  for (const v1::MarkInfo& mark : response.marks()) {
    const v1::Scope& scope = mark.scope();
    const bool is_read = mark.has_reference_time_ns();
    table.Add({scope.device(), absl::StrCat(mark.mark_id()), VmText(scope), scope.context(),
               MarkStateText(mark.state()), is_read ? SecondsText(mark.reference_time_ns()) : "", HostText(mark),
               Visible(mark.label())});
  }
  return table.Render(style);
}

std::string SpanTable(const v1::GetSpanResponse& response, const TableStyle& style) {
  std::string text =
      absl::StrCat(WhereText(response.from().scope()), "  from mark ", response.from().mark_id(), " (",
                   Visible(response.from().label()), ") at ", SecondsText(response.from().reference_time_ns()),
                   "\n  to mark ", response.to().mark_id(), " (", Visible(response.to().label()), ") at ",
                   SecondsText(response.to().reference_time_ns()), "\n  duration ", SecondsText(response.duration_ns()),
                   " ±", response.duration_error_ns(), " ns by the device's clock\n");
  if (!response.flags().empty()) absl::StrAppend(&text, "  flags ", absl::StrJoin(response.flags(), ","), "\n");
  Table table({{"EVENT"}, {"COUNT", kRight}, {"RATE", kRight}});
  for (const v1::Counter& counter : response.counters()) {
    table.Add({counter.event(), CountText(counter.count(), style),
               counter.has_rate_per_second() ? ScaledText(counter.rate_per_second(), "/s", style) : ""});
  }
  return absl::StrCat(text, table.Render(style));
}

std::string ClocksTable(const v1::ListClocksResponse& response, const TableStyle& style) {
  Table table({{"DEVICE"},
               {"DOMAIN"},
               {"SLICE", kRight},
               {"NOMINAL", kRight},
               {"FREQUENCY", kRight},
               {"BOUND", kRight},
               {"SEGMENTS", kRight},
               {"NOTES"}});
  for (const v1::DeviceClocks& device : response.devices()) {
    for (const v1::Clock& clock : device.clocks()) {
      table.Add({device.device(), clock.name(), clock.has_slice() ? absl::StrCat(clock.slice()) : "",
                 ScaledText(static_cast<double>(clock.nominal_hertz()), "Hz", style), FrequencyText(clock),
                 BoundText(clock), absl::StrCat(clock.segments()), ClockNotes(clock)});
    }
  }
  std::string text = table.Render(style);
  for (const v1::DeviceClocks& device : response.devices()) {
    // Nothing is known about a board without a clock.
    const absl::Duration error = ToDuration(device.host_time_error());
    absl::StrAppend(&text, device.device(), ": the host's time of a snapshot is ",
                    error > absl::ZeroDuration() ? absl::StrCat("known to ±", absl::FormatDuration(error)) : "unknown");
    if (device.has_reference_ppm_lower()) {
      absl::StrAppendFormat(&text, "; the reference clock is off by %.3f to %.3f ppm from the host's",
                            device.reference_ppm_lower(), device.reference_ppm_upper());
    }
    if (device.reference_unsound())
      absl::StrAppend(&text, "; unsound: it contradicts the configuration (host_ppm_max)");
    absl::StrAppend(&text, "\n");
    if (device.has_line_offset()) text += OffsetText(device.device(), device.line_offset());
  }
  return text;
}

std::unique_ptr<Command> NewMarkCommand() { return std::make_unique<MarkCommand>(); }
std::unique_ptr<Command> NewMarksCommand() { return std::make_unique<MarksCommand>(); }
std::unique_ptr<Command> NewSpanCommand() { return std::make_unique<SpanCommand>(); }
std::unique_ptr<Command> NewClocksCommand() { return std::make_unique<ClocksCommand>(); }

}  // namespace sideband::client

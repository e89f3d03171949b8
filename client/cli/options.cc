// SPDX-License-Identifier: Apache-2.0
#include "client/cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/render.h"
#include "client/lib/rpc_status.h"
#include "proto/base/event_name.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/uuid.h"

namespace sideband::client {
namespace {

void AddNames(CLI::App& app, const std::string& flag, const std::string& what, std::vector<std::string>& names) {
  app.add_option(flag, names, absl::StrCat("Only this ", what, ", or those that match * and ?; repeatable"))
      ->type_name("NAME")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

void AddFormat(CLI::App& app, const char* help, const std::vector<std::string>& names, std::string& name) {
  app.add_option("-o,--format", name, help)->check(CLI::IsMember(names))->type_name("FORMAT")->capture_default_str();
}

void AddStyle(CLI::App& app, TableStyle& style) {
  app.add_flag("--wide", style.wide, "All columns, in full");
  app.add_flag("--raw", style.raw, "Numbers in full, without groups and units");
}

constexpr absl::Duration kStepMin = absl::Milliseconds(1);
constexpr absl::Duration kStepMax = absl::Hours(24 * 366);

// A CLI11 validator: returns the error message, or an empty text.
std::string CheckStep(const std::string& text) {
  const auto step = ParseLength(text);
  return step && *step >= kStepMin && *step <= kStepMax
             ? ""
             : absl::StrCat("'", text, "' is not a duration from 1ms to 8784h, such as 5s");
}

bool IsNumber(absl::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == absl::string_view::npos;
}

using Names = std::vector<std::string>;

template <typename Message, typename Predicate>
void EraseIf(google::protobuf::RepeatedPtrField<Message>& messages, Predicate predicate) {
  messages.erase(std::remove_if(messages.begin(), messages.end(), predicate), messages.end());
}

bool HasPattern(const Names& names) { return std::ranges::any_of(names, IsPattern); }

// Whether a filter, which holds one name per kind, can express the names.
bool IsOneName(const Names& names) { return names.size() == 1 && !IsPattern(names[0]); }

// VmText() names the hypervisor on a slice like this; a filter of the daemon does not know the name.
bool IsHostName(const std::string& vm) { return absl::StartsWith(vm, "(host:"); }

// Converts UUIDs to the daemon's notation, since patterns are matched as text.
Names Canonical(Names vms) {
  for (std::string& vm : vms) {
    if (const auto uuid = Uuid::Parse(vm); uuid.ok()) vm = uuid->ToString();
  }
  return vms;
}

absl::StatusOr<Names> DeviceNames(TelemetryClient& client) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto response, client.ListDevices({}));
  Names names;
  for (const v1::Device& device : response.devices()) names.push_back(device.name());
  return names;
}

// Names and UUIDs of the VMs that are confidential, or of the others, with the hypervisor's names. Counters of
// confidential VMs are never readable.
Names VmNames(const v1::ListScopesResponse& response, bool confidential) {
  Names names;
  for (const v1::Scope& scope : response.scopes()) {
    if (scope.host() && !confidential) names.push_back(VmText(scope));
    if (scope.vm().empty() || scope.confidential() != confidential) continue;
    names.push_back(scope.vm());
    names.push_back(scope.vm_uuid());
  }
  return names;
}

absl::StatusOr<Names> EventNames(TelemetryClient& client, const std::string& device) {
  v1::ListEventsRequest request;
  request.set_device(device);
  SIDEBAND_ASSIGN_OR_RETURN(const auto response, client.ListEvents(request));
  Names names;
  for (const auto& events : response.devices()) {
    for (const v1::Event& event : events.events()) names.push_back(event.name());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Names EventPatterns(const Names& given, const Names& known) {
  Names patterns;
  for (const std::string& one : given) patterns.push_back(EventPattern(one, known));
  return patterns;
}

bool Has(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

// Requests a snapshot for each name that is not in `known`, and returns the daemon's error. OK if the daemon knows the
// name.
absl::Status CheckNamed(const Names& names, const Names& known, void (*set)(v1::Filter&, const std::string&),
                        TelemetryClient& client) {
  for (const std::string& name : names) {
    if (IsPattern(name) || Has(known, name)) continue;
    v1::GetSnapshotRequest request;
    set(*request.mutable_filter(), name);
    SIDEBAND_RETURN_IF_ERROR(client.GetSnapshot(request).status());
  }
  return absl::OkStatus();
}

std::string Missing(const char* kind, const std::string& name, const Names& known) {
  const auto missing = [&](const std::string& hint) { return absl::StrCat(kind, " '", name, "'", hint); };
  const bool is_context = kind == absl::string_view("context");  // there is one at most, and no pattern
  if (is_context && IsPattern(name)) return missing(" (--context takes a name without * and ?)");
  if (!is_context && absl::StrContains(name, ',')) {
    return missing(absl::StrCat(" (for several, repeat --", absl::AsciiStrToLower(kind), ")"));
  }
  if (const size_t slash = name.find('/'); kind == absl::string_view("VM") && slash != std::string::npos) {
    return missing(
        absl::StrCat(" (a context of it: --vm ", name.substr(0, slash), " --context ", name.substr(slash + 1), ")"));
  }
  return missing(DidYouMean(name, known));
}

void AddMissing(const char* kind, const Names& names, const absl::StatusOr<Names>& known, Names& missing) {
  if (!known.ok()) return;
  for (const std::string& name : names) {
    if (!IsPattern(name) && !Has(*known, name)) missing.push_back(Missing(kind, name, *known));
  }
}

void AddMissingVms(const Names& vms, const v1::ListScopesResponse& visible, Names& missing) {
  const Names confidential = VmNames(visible, true);
  Names others;
  for (const std::string& vm : Canonical(vms)) {
    if (Has(confidential, vm)) {
      missing.push_back(absl::StrCat("VM '", vm, "' (confidential: its counters are in sealed records only)"));
    } else {
      others.push_back(vm);
    }
  }
  AddMissing("VM", others, VmNames(visible, false), missing);
}

void AddMissingEvents(const Names& events, TelemetryClient& client, Names& missing) {
  const auto known = EventNames(client, "");
  if (known.ok()) AddMissing("event", EventPatterns(events, *known), known, missing);
}

// A context's name has no wildcards.
void AddMissingContext(const FilterOptions& options, const v1::ListScopesResponse& visible, Names& missing) {
  const Names vms = Canonical(options.vms);
  Names known;
  for (const v1::Scope& scope : visible.scopes()) {
    if (vms.empty() || MatchesAny(vms, scope.vm()) || MatchesAny(vms, scope.vm_uuid()))
      known.push_back(scope.context());
  }
  if (Has(known, options.context)) return;
  // Only operators see a device's own row.
  const auto is_operators = [](const v1::Scope& scope) { return scope.vm().empty(); };
  const bool has_none = std::ranges::all_of(known, [](const std::string& name) { return name.empty(); });
  missing.push_back(has_none && std::ranges::any_of(visible.scopes(), is_operators)
                        ? absl::StrCat("context '", options.context, "' (operators see VMs, not their contexts)")
                        : Missing("context", options.context, known));
}

void AddMissingScopes(const FilterOptions& options, TelemetryClient& client, Names& missing) {
  const auto visible = client.ListScopes({});
  if (!visible.ok()) return;
  AddMissingVms(options.vms, *visible, missing);
  // A VM that is not there has no contexts.
  if (!options.context.empty() && missing.empty()) AddMissingContext(options, *visible, missing);
}

}  // namespace

void FormatOption::AddTo(CLI::App& app) {
  AddFormat(app, "How to print: table, json or csv (RFC 4180)", {"table", "json", "csv"}, name);
  AddStyle(app, style);
}

void FormatOption::AddWithLinesTo(CLI::App& app) {
  name = kLines;
  AddFormat(app, "How to print: lines, table, json or csv (RFC 4180)", {kLines, "table", "json", "csv"}, name);
  AddStyle(app, style);
}

void FormatOption::AddWithoutCsvTo(CLI::App& app) {
  AddFormat(app, "How to print: table or json", {"table", "json"}, name);
}

void AddDeviceOption(CLI::App& app, std::vector<std::string>& devices) { AddNames(app, "--device", "device", devices); }

void AddEventOption(CLI::App& app, std::vector<std::string>& events) { AddNames(app, "--event", "event", events); }

void FilterOptions::AddTo(CLI::App& app) {
  AddDeviceOption(app, devices);
  AddNames(app, "--vm", "VM", vms);
  app.add_option("--context", context, "Only this context")->type_name("NAME");
  AddEventOption(app, events);
}

std::optional<absl::Duration> ParseLength(absl::string_view text) {
  constexpr int kHoursOfDay = 24;
  absl::Duration length;
  if (const size_t d = text.find('d'); d != absl::string_view::npos) {
    if (!IsNumber(text.substr(0, d)) || !absl::ParseDuration(absl::StrCat(text.substr(0, d), "h"), &length)) return {};
    const auto rest = d + 1 == text.size() ? absl::ZeroDuration() : ParseLength(text.substr(d + 1));
    return rest ? std::optional(kHoursOfDay * length + *rest) : std::nullopt;
  }
  const bool is_good = absl::ParseDuration(IsNumber(text) ? absl::StrCat(text, "s") : std::string(text), &length);
  return is_good ? std::optional(length) : std::nullopt;
}

std::optional<absl::Time> ParseWhen(absl::string_view text, absl::Time now) {
  constexpr absl::Duration kAgoMax = absl::Hours(24 * 366 * 10);
  // A number without a unit may also be meant as a time.
  const auto ago = IsNumber(text) && text != "0" ? std::nullopt : ParseLength(text);
  if (ago && *ago >= absl::ZeroDuration() && *ago <= kAgoMax) return now - *ago;
  for (const char* const format : {absl::RFC3339_full, "%E4Y-%m-%d"}) {
    absl::Time time;
    std::string error;
    const bool is_time =
        absl::ParseTime(format, text, &time, &error) && time > absl::InfinitePast() && time < absl::InfiniteFuture();
    if (is_time) return time;
  }
  return std::nullopt;
}

CLI::Option* WhenOption::AddTo(CLI::App& app, const std::string& flag, const std::string& help) {
  // A CLI11 validator: returns the error message, or an empty text.
  const auto check = [](const std::string& given) -> std::string {
    if (ParseWhen(given, absl::UnixEpoch())) return "";
    return absl::StrCat(
        "'", given,
        "' is neither a duration, such as 5m or 2d, nor a time, such as 2026-11-21 or 2026-11-21T12:00:00Z");
  };
  return app.add_option(flag, text, help)->check(check)->type_name("WHEN");
}

CLI::Option* PastOptions::AddTo(CLI::App& app) {
  CLI::Option* const since =
      since_.AddTo(app, "--since", "Print the history from this time on, or of the last 5m, 2h or 3d");
  until_.AddTo(app, "--until", "Print the history up to this time, or to the beginning of this date; default: now")
      ->needs(since);
  app.add_option("--step", step_, "Print the first point of each step; default: every point that the daemon has")
      ->check(CheckStep)
      ->type_name("DURATION")
      ->needs(since);
  return since;
}

absl::Status PastOptions::Check(absl::Time now) const {
  const auto since = since_.At(now), until = until_.At(now);
  const bool is_backwards = since && until && *until < *since;
  return is_backwards ? absl::InvalidArgumentError("--until is before --since") : absl::OkStatus();
}

void PastOptions::SetTime(absl::Time from, google::protobuf::Timestamp& to) {
  // Rounds down, also before 1970: a Timestamp's nanos are never negative.
  const int64_t seconds = absl::ToUnixSeconds(from);
  to.set_seconds(seconds);
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(from - absl::FromUnixSeconds(seconds))));
}

void PastOptions::SetStep(google::protobuf::Duration& to) const {
  absl::Duration step = ParseLength(step_).value_or(absl::ZeroDuration());
  to.set_seconds(absl::IDivDuration(step, absl::Seconds(1), &step));
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(step)));
}

bool IsPattern(absl::string_view text) { return text.find_first_of("*?") != absl::string_view::npos; }

bool Matches(absl::string_view pattern, absl::string_view name) {
  constexpr size_t kNone = absl::string_view::npos;
  size_t p = 0, n = 0;
  size_t star = kNone, star_name = 0;  // the last '*', and the end of the name's part that it matches
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
      // A mismatch after a '*': extend the match of the '*' by one byte and retry.
    } else if (star != kNone) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

bool MatchesAny(std::span<const std::string> patterns, absl::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return Matches(pattern, name); });
}

std::string EventPattern(const std::string& given, std::span<const std::string> names) {
  const auto matching = FindEvent(given, [&](const std::string& pattern) {
    const auto matches = [&](const std::string& name) { return Matches(pattern, name); };
    return std::ranges::any_of(names, matches) ? std::optional(pattern) : std::nullopt;
  });
  return matching.value_or(given);
}

absl::StatusOr<std::string> DeviceOr(const std::string& named, TelemetryClient& client) {
  if (!named.empty()) return named;
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListDevicesResponse response, client.ListDevices({}));
  if (response.devices_size() == 1) return response.devices(0).name();
  if (response.devices().empty()) return MarkRemote(absl::NotFoundError("there is no device that this caller may see"));
  const auto name = [](std::string* out, const v1::Device& device) { absl::StrAppend(out, device.name()); };
  return absl::InvalidArgumentError(
      absl::StrCat("--device: there are several: ", absl::StrJoin(response.devices(), ", ", name)));
}

absl::StatusOr<std::string> DeviceOfVm(const std::string& named, const std::string& vm, TelemetryClient& client) {
  auto device = DeviceOr(named, client);
  if (vm.empty() || !absl::IsInvalidArgument(device.status())) return device;
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListScopesResponse response, client.ListScopes({}));
  std::set<std::string> devices;
  for (const v1::Scope& scope : response.scopes()) {
    if (scope.vm() == vm || scope.vm_uuid() == vm) devices.insert(scope.device());
  }
  if (devices.empty())
    return MarkRemote(absl::NotFoundError(absl::StrCat("there is no VM '", vm, "' that this caller may read")));
  if (devices.size() == 1) return *devices.begin();
  return absl::InvalidArgumentError(
      absl::StrCat("--device: VM '", vm, "' is on several: ", absl::StrJoin(devices, ", ")));
}

Selection::Selection(const FilterOptions& options) : options_(options) {
  filter_.set_context(options.context);
  if (IsOneName(options.devices)) {
    filter_.set_device(options.devices[0]);
  } else {
    devices_ = options.devices;
  }
  if (IsOneName(options.vms) && !IsHostName(options.vms[0])) {
    filter_.set_vm(options.vms[0]);
  } else {
    vms_ = Canonical(options.vms);
  }
}

absl::StatusOr<Selection> Selection::Resolve(const FilterOptions& options, TelemetryClient& client) {
  Selection selection(options);
  SIDEBAND_RETURN_IF_ERROR(selection.CheckNames(client));
  SIDEBAND_RETURN_IF_ERROR(selection.ExpandEvents(client));
  return selection;
}

absl::Status Selection::CheckNames(TelemetryClient& client) const {
  if (!devices_.empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(const Names known, DeviceNames(client));
    const auto set = [](v1::Filter& filter, const std::string& name) { filter.set_device(name); };
    SIDEBAND_RETURN_IF_ERROR(CheckNamed(devices_, known, set, client));
  }
  if (vms_.empty()) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const auto visible, client.ListScopes({}));
  const Names known = VmNames(visible, false);
  const auto set = [](v1::Filter& filter, const std::string& name) { filter.set_vm(name); };
  return CheckNamed(vms_, known, set, client);
}

// Expands event patterns into the filter's names. With a VM or context in the filter the daemon rejects events that the
// rows do not have; then Narrow() alone selects the events.
absl::Status Selection::ExpandEvents(TelemetryClient& client) {
  if (!HasPattern(options_.events)) {
    filter_.mutable_events()->Add(options_.events.begin(), options_.events.end());
    return absl::OkStatus();
  }
  SIDEBAND_ASSIGN_OR_RETURN(const Names known, EventNames(client, filter_.device()));
  events_ = EventPatterns(options_.events, known);
  const auto set = [](v1::Filter& filter, const std::string& name) { filter.add_events(name); };
  SIDEBAND_RETURN_IF_ERROR(CheckNamed(events_, known, set, client));
  if (!filter_.vm().empty() || !filter_.context().empty()) return absl::OkStatus();
  for (const std::string& event : known) {
    if (SelectsEvent(event)) filter_.add_events(event);
  }
  return absl::OkStatus();
}

bool Selection::SelectsDevice(const std::string& name) const { return devices_.empty() || MatchesAny(devices_, name); }

bool Selection::SelectsScope(const v1::Scope& scope) const {
  if (vms_.empty()) return true;
  if (scope.host()) return MatchesAny(vms_, VmText(scope));
  return !scope.vm().empty() && (MatchesAny(vms_, scope.vm()) || MatchesAny(vms_, scope.vm_uuid()));
}

bool Selection::SelectsEvent(const std::string& name) const { return events_.empty() || MatchesAny(events_, name); }

// Devices, limits and boards' events have no VM: they are selected by their device.
bool Selection::Selects(const v1::StateItem& item) const {
  switch (item.item_case()) {
    case v1::StateItem::kDevice:
      return SelectsDevice(item.device().name());
    case v1::StateItem::kScope:
      return SelectsDevice(item.scope().scope().device()) && SelectsScope(item.scope().scope());
    case v1::StateItem::kLimit:
      return SelectsDevice(item.limit().device());
    case v1::StateItem::kMark:
      return SelectsDevice(item.mark().scope().device()) && SelectsScope(item.mark().scope());
    case v1::StateItem::kBoardEvent:
      return SelectsDevice(item.board_event().device());
    case v1::StateItem::ITEM_NOT_SET:
      break;
  }
  return true;
}

bool Selection::Narrow(v1::StateChange& change) const {
  EraseIf(*change.mutable_items(), [&](const auto& item) { return !Selects(item); });
  return change.items_size() > 0;
}

bool Selection::Narrow(v1::Snapshot& snapshot) const {
  // Everything is selected by the daemon's filter; empty rows are the daemon's answer.
  if (devices_.empty() && vms_.empty() && events_.empty()) return true;
  if (!SelectsDevice(snapshot.device())) return false;
  EraseIf(*snapshot.mutable_scopes(), [&](const auto& row) { return !SelectsScope(row.scope()); });
  for (v1::ScopeCounters& row : *snapshot.mutable_scopes()) {
    if (events_.empty()) break;
    // Whether all events of a configured ratio are selected is unknown here; a utilisation has one event.
    EraseIf(*row.mutable_ratios(),
            [&](const auto& ratio) { return ratio.event().empty() || !SelectsEvent(ratio.event()); });
    EraseIf(*row.mutable_counters(), [&](const auto& counter) { return !SelectsEvent(counter.event()); });
  }
  return std::ranges::any_of(snapshot.scopes(), [](const auto& row) { return row.counters_size() > 0; });
}

void Selection::Narrow(v1::GetSnapshotResponse& response) const {
  EraseIf(*response.mutable_snapshots(), [&](v1::Snapshot& snapshot) { return !Narrow(snapshot); });
}

void Selection::Narrow(v1::DeviceHistory& history) const {
  EraseIf(*history.mutable_series(), [&](const auto& series) { return !SelectsScope(series.scope()); });
  if (events_.empty()) return;
  for (v1::HistorySeries& series : *history.mutable_series()) {
    EraseIf(*series.mutable_columns(), [&](const v1::HistoryColumn& column) {
      const int event = static_cast<int>(column.event());
      return event >= history.events_size() || !SelectsEvent(history.events(event));
    });
  }
  EraseIf(*history.mutable_series(), [](const auto& series) { return series.columns().empty(); });
}

void Selection::Narrow(v1::GetHistoryResponse& response) const {
  EraseIf(*response.mutable_devices(), [&](const auto& history) { return !SelectsDevice(history.device()); });
  for (v1::DeviceHistory& history : *response.mutable_devices()) Narrow(history);
}

absl::Status ExplainNotFound(const absl::Status& status, const FilterOptions& options, TelemetryClient& client) {
  if (!absl::IsNotFound(status) || !IsRemote(status)) return status;
  Names missing;
  if (!options.devices.empty()) AddMissing("device", options.devices, DeviceNames(client), missing);
  if (!options.vms.empty() || !options.context.empty()) AddMissingScopes(options, client, missing);
  if (!options.events.empty()) AddMissingEvents(options.events, client, missing);
  if (missing.empty()) return status;
  return MarkRemote(absl::Status(status.code(), absl::StrCat(status.message(), ": ", absl::StrJoin(missing, ", "))));
}

}  // namespace sideband::client

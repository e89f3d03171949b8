// SPDX-License-Identifier: Apache-2.0
//
// Options that several subcommands share, and what the names in them select of a response. Each object of
// options must outlive the parsing.
//   past_.AddTo(app);
//   SIDEBAND_RETURN_IF_ERROR(past_.Check(context.Now()));
//   if (past_.is_wanted()) past_.FillIn(context.Now(), request);
#ifndef SIDEBAND_CLIENT_CLI_OPTIONS_H_
#define SIDEBAND_CLIENT_CLI_OPTIONS_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/table.h"
#include "client/lib/telemetry_client.h"
#include "proto/base/status_macros.h"
#include "sideband/v1/telemetry.pb.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sideband::client {

// --format table|json|csv (or lines), --wide and --raw; other formats are rejected.
struct FormatOption {
  static constexpr char kLines[] = "lines";
  std::string name = "table";
  TableStyle style;

  // For listings.
  void AddTo(CLI::App& app);
  // For streams: lines, too, which is the default.
  void AddWithLinesTo(CLI::App& app);
  // For single objects: table or json, without --wide and --raw.
  void AddWithoutCsvTo(CLI::App& app);
  bool lines() const { return name == kLines; }
  bool json() const { return name == "json"; }
  bool csv() const { return name == "csv"; }
};

// --device, repeatable, with wildcards.
void AddDeviceOption(CLI::App& app, std::vector<std::string>& devices);

// --event, repeatable, with wildcards.
void AddEventOption(CLI::App& app, std::vector<std::string>& events);

// --device --vm --context --event; empty members do not narrow the selection.
struct FilterOptions {
  std::vector<std::string> devices;  // names, or patterns
  std::vector<std::string> vms;      // names, UUIDs, or patterns
  std::string context;
  std::vector<std::string> events;  // names, or patterns

  void AddTo(CLI::App& app);
};

// A duration on the command line: 500ms, 1h30m, 2d, or seconds without a unit. nullopt if the text is none.
std::optional<absl::Duration> ParseLength(absl::string_view text);

// A point in time on the command line: 5m is five minutes ago; 2026-11-21T12:00:00Z is that instant, and 2026-11-21 the
// beginning of that day (UTC). nullopt if the text is neither a duration with its unit nor a time.
std::optional<absl::Time> ParseWhen(absl::string_view text, absl::Time now);

// The object must outlive the parsing.
struct WhenOption {
  std::string text;

  // Adds the option; a malformed value is rejected.
  CLI::Option* AddTo(CLI::App& app, const std::string& flag, const std::string& help);
  // nullopt if the option was not given.
  std::optional<absl::Time> At(absl::Time now) const { return ParseWhen(text, now); }
};

// Must outlive the parsing. Not thread-safe.
class PastOptions {
 public:
  // Malformed values are rejected, as are the others without --since. Returns --since.
  CLI::Option* AddTo(CLI::App& app);
  bool is_wanted() const { return !since_.text.empty(); }
  // INVALID_ARGUMENT if the end is before the beginning.
  absl::Status Check(absl::Time now) const;
  // Sets since, until and step of a request, as far as they were given.
  template <typename Request>
  void FillIn(absl::Time now, Request& request) const {
    if (const auto since = since_.At(now)) SetTime(*since, *request.mutable_since());
    if (const auto until = until_.At(now)) SetTime(*until, *request.mutable_until());
    if (!step_.empty()) SetStep(*request.mutable_step());
  }

 private:
  static void SetTime(absl::Time from, google::protobuf::Timestamp& to);
  void SetStep(google::protobuf::Duration& to) const;

  WhenOption since_;
  WhenOption until_;
  std::string step_;
};

// The names that a user gives may have wildcards, as in --event 'dram_*': '*' matches any characters, '?' matches one.
bool IsPattern(absl::string_view text);

// The running time is at most proportional to the product of the sizes. '?' matches one byte.
bool Matches(absl::string_view pattern, absl::string_view name);
bool MatchesAny(std::span<const std::string> patterns, absl::string_view name);

// Completes a name or pattern of events that a user gives: returns it unchanged if it matches one of `names`; else with
// the ending that screens leave out (proto/base/event_name.h), if that matches one; else unchanged.
std::string EventPattern(const std::string& given, std::span<const std::string> names);

// Whether --device chooses the device; it chooses all if it is not given.
inline bool IsChosen(const std::vector<std::string>& chosen, const std::string& device) {
  return chosen.empty() || MatchesAny(chosen, device);
}

// Calls `list`, which takes a device name, or "" for all devices. A single name without wildcards is passed on.
// Otherwise returns list(""), in which the rows of other devices are still present; before that, each chosen name
// without wildcards is listed by itself, so that an unknown device is an error.
template <typename List>
auto ListFor(const std::vector<std::string>& chosen, List list) -> decltype(list(std::string())) {
  if (chosen.size() == 1 && !IsPattern(chosen[0])) return list(chosen[0]);
  for (const std::string& device : chosen) {
    if (!IsPattern(device)) SIDEBAND_RETURN_IF_ERROR(list(device).status());
  }
  return list("");
}

// `named`, or if it is empty the only device that the caller may see. NOT_FOUND if there is none, INVALID_ARGUMENT with
// their names if there are several.
absl::StatusOr<std::string> DeviceOr(const std::string& named, TelemetryClient& client);
// The same; if there are several devices, the only one on which the caller may read something of the VM, which is given
// by name or UUID. NOT_FOUND if there is none.
absl::StatusOr<std::string> DeviceOfVm(const std::string& named, const std::string& vm, TelemetryClient& client);

// Resolves --device, --vm, --context and --event into a request's filter, and narrows the response where a filter is
// not sufficient (several VMs or devices, wildcards). Immutable after Resolve().
//   SIDEBAND_ASSIGN_OR_RETURN(const Selection selection, Selection::Resolve(options, client));
//   *request.mutable_filter() = selection.filter();
//   if (selection.Narrow(snapshot)) Print(snapshot);
class Selection {
 public:
  // Requests listings from the daemon only if the filter cannot express the selection. Returns the daemon's NOT_FOUND
  // for an unknown name without wildcards; a pattern may match nothing.
  static absl::StatusOr<Selection> Resolve(const FilterOptions& options, TelemetryClient& client);

  const v1::Filter& filter() const { return filter_; }
  const FilterOptions& options() const { return options_; }

  // Removes everything that is not selected; returns false if nothing is left.
  bool Narrow(v1::Snapshot& snapshot) const;
  bool Narrow(v1::StateChange& change) const;
  void Narrow(v1::GetSnapshotResponse& response) const;
  void Narrow(v1::GetHistoryResponse& response) const;

 private:
  explicit Selection(const FilterOptions& options);

  absl::Status ExpandEvents(TelemetryClient& client);
  // Checks the names that the filter cannot hold.
  absl::Status CheckNames(TelemetryClient& client) const;
  void Narrow(v1::DeviceHistory& history) const;
  bool Selects(const v1::StateItem& item) const;
  bool SelectsDevice(const std::string& name) const;
  bool SelectsScope(const v1::Scope& scope) const;
  bool SelectsEvent(const std::string& name) const;

  FilterOptions options_;
  v1::Filter filter_;
  // Empty if the filter already selects them.
  std::vector<std::string> devices_, vms_, events_;
};

// Returns `status`. If it is the daemon's NOT_FOUND, appends the names that are not visible to the caller, with
// suggestions from the visible names, and the names of VMs that the caller sees to be confidential.
absl::Status ExplainNotFound(const absl::Status& status, const FilterOptions& options, TelemetryClient& client);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_OPTIONS_H_

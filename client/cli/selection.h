// SPDX-License-Identifier: Apache-2.0
//
// The names that a user gives: wildcards, as in --event 'dram_*', in which '*' matches any characters and '?' matches
// one; the devices of --device; the device of a command that needs one and is not given its name. Selection resolves
// --device, --vm, --context and --event into the request's filter, and narrows the response where a filter is not
// sufficient (several VMs or devices, wildcards).
//   SIDEBAND_ASSIGN_OR_RETURN(const Selection selection, Selection::Resolve(options, client));
//   *request.mutable_filter() = selection.filter();
//   if (selection.Narrow(snapshot)) Print(snapshot);
#ifndef SIDEBAND_CLIENT_CLI_SELECTION_H_
#define SIDEBAND_CLIENT_CLI_SELECTION_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/options.h"
#include "client/lib/telemetry_client.h"
#include "proto/base/status_macros.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

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

// Immutable after Resolve().
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

#endif  // SIDEBAND_CLIENT_CLI_SELECTION_H_

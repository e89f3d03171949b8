// SPDX-License-Identifier: Apache-2.0
//
// Resolves --device, --vm, --context and --event into the request's filter, and narrows the response where a filter is
// not sufficient (several VMs or devices, wildcards).
//   SIDEBAND_ASSIGN_OR_RETURN(const Selection selection, Selection::Resolve(options, client));
//   *request.mutable_filter() = selection.filter();
//   if (selection.Narrow(snapshot)) Print(snapshot);
#ifndef SIDEBAND_CLIENT_CLI_SELECTION_H_
#define SIDEBAND_CLIENT_CLI_SELECTION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/options.h"
#include "client/lib/telemetry_client.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

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

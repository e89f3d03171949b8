// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/queries.h"

#include <string>
#include <utility>
#include <vector>

#include "daemon/snapshot/message.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// The visible devices named `name`, or all where it is empty. NotFound() where a name was given and no visible device
// has it.
absl::StatusOr<std::vector<VisibleDevice>> Select(Reader& reader, const Caller& caller, const std::string& name) {
  sideband::v1::Filter filter;
  filter.set_device(name);
  const RowFilter by_name(filter);
  std::vector<VisibleDevice> selected;
  for (VisibleDevice& device : reader.Devices(caller)) {
    if (by_name.SelectsDevice(device)) selected.push_back(std::move(device));
  }
  // Absent and denied devices are indistinguishable.
  if (selected.empty() && !name.empty()) return NotFound();
  return selected;
}

void AddEvents(const VisibleDevice& device, sideband::v1::ListEventsResponse& response) {
  auto& out = *response.add_devices();
  out.set_device(device.info->name);
  const Topology& topology = *device.view->topology();
  for (size_t i = 0; i < topology.catalog().events.size(); ++i) {
    if (device.view->AllEvents()[i]) *out.add_events() = EventMessage(topology, i);
  }
}

}  // namespace

absl::StatusOr<sideband::v1::ListDevicesResponse> ListDevices(Reader& reader, const Caller& caller,
                                                              const sideband::v1::ListDevicesRequest&) {
  sideband::v1::ListDevicesResponse response;
  for (const VisibleDevice& device : reader.Devices(caller)) *response.add_devices() = DeviceMessage(device);
  return response;
}

absl::StatusOr<sideband::v1::ListEventsResponse> ListEvents(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListEventsRequest& request) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<VisibleDevice> devices, Select(reader, caller, request.device()));
  sideband::v1::ListEventsResponse response;
  for (const VisibleDevice& device : devices) {
    // A device without a snapshot has no view.
    if (device.view != nullptr) AddEvents(device, response);
  }
  return response;
}

absl::StatusOr<sideband::v1::ListScopesResponse> ListScopes(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListScopesRequest& request) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<VisibleDevice> devices, Select(reader, caller, request.device()));
  sideband::v1::ListScopesResponse response;
  for (const VisibleDevice& device : devices) {
    if (device.view == nullptr) continue;
    for (sideband::v1::Scope& scope : ScopeMessages(*device.info, *device.view)) {
      *response.add_scopes() = std::move(scope);
    }
  }
  return response;
}

absl::StatusOr<std::vector<SharedSnapshot>> GetSnapshot(Reader& reader, SnapshotBodies& bodies, const Caller& caller,
                                                        const sideband::v1::GetSnapshotRequest& request) {
  const RowFilter filter(request.filter());
  const std::vector<VisibleDevice> devices = reader.Devices(caller);
  // Checks the names against all visible devices before the rows are selected: an unknown name is NotFound(), not an
  // empty answer.
  SIDEBAND_RETURN_IF_ERROR(filter.Check(devices));
  std::vector<SharedSnapshot> snapshots;
  for (const VisibleDevice& device : devices) {
    if (device.snapshot == nullptr || !filter.SelectsDevice(device)) continue;
    SharedSnapshot snapshot = bodies.Get(device, filter);
    if (snapshot.body->has_rows) snapshots.push_back(std::move(snapshot));
  }
  return snapshots;
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/telemetry_queries.h"

#include <cstddef>
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

void FillClock(const mailbox::ClockDomain& domain, const ClockState& state, sideband::v1::Clock& out) {
  out.set_name(domain.name);
  if (domain.slice) out.set_slice(*domain.slice);
  out.set_nominal_hertz(domain.nominal_hz);
  out.set_may_stop(domain.MayStop());
  out.set_announces_changes(domain.announces);
  if (state.frequency) {
    out.set_hertz_lower(state.frequency->lower);
    out.set_hertz_upper(state.frequency->upper);
  }
  if (state.error_bound_s) out.set_error_bound_seconds(*state.error_bound_s);
  out.set_unsound(state.is_unsound);
  out.set_stopped(state.is_stopped);
  out.set_segments(state.segments);
  out.set_refuted_segments(state.refuted_segments);
  out.set_unused_readings(state.unused_readings);
  out.set_withheld(state.is_withheld);
}

void FillOffset(const LineOffset& offset, sideband::v1::LineOffset& out) {
  out.set_driver(offset.driver);
  out.set_offset_ns(offset.offset_ns);
  out.set_error_ns(offset.error_ns);
  if (!offset.rate) return;
  out.set_ppm_lower(offset.rate->lower_ppm);
  out.set_ppm_upper(offset.rate->upper_ppm);
}

void FillDevice(const VisibleDevice& device, sideband::v1::DeviceClocks& out) {
  out.set_device(device.info->name);
  const DeviceSnapshot& snapshot = *device.snapshot;
  const auto& domains = snapshot.topology->catalog().clock_domains;
  for (size_t d = 0; d < snapshot.clocks.size(); ++d) FillClock(domains[d], snapshot.clocks[d], *out.add_clocks());
  if (snapshot.reference_rate) {
    out.set_reference_ppm_lower(snapshot.reference_rate->lower_ppm);
    out.set_reference_ppm_upper(snapshot.reference_rate->upper_ppm);
  }
  out.set_reference_unsound(snapshot.reference_is_unsound);
  SetDuration(snapshot.host_time_error, *out.mutable_host_time_error());
  // That of a device that answers no more is of a pulse long ago.
  if (snapshot.line_offset && device.state == VisibleDevice::State::kFresh)
    FillOffset(*snapshot.line_offset, *out.mutable_line_offset());
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

absl::StatusOr<sideband::v1::ListClocksResponse> ListClocks(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListClocksRequest& request) {
  sideband::v1::ListClocksResponse response;
  bool is_there = request.device().empty();
  if (caller.is_operator()) {
    for (const VisibleDevice& device : reader.Devices(caller)) {
      if (!request.device().empty() && device.info->name != request.device()) continue;
      is_there = true;
      if (device.snapshot != nullptr) FillDevice(device, *response.add_devices());
    }
  }
  if (!is_there) return NotFound();
  return response;
}

}  // namespace sideband::daemon

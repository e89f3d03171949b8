// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/sensor_queries.h"

#include <algorithm>
#include <utility>

#include "daemon/view/row_filter.h"
#include "daemon/view/sensor_message.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

SensorNames NamesOf(const sideband::v1::SensorFilter& filter) { return {filter.names().begin(), filter.names().end()}; }

// Absent and denied metrics are indistinguishable.
template <typename Response>
absl::StatusOr<Response> WithAllNames(Response response, SensorNames missing) {
  for (const auto& device : response.devices()) {
    for (const auto& sensor : device.sensors()) missing.erase(sensor.name());
  }
  if (!missing.empty()) return NotFound();
  return response;
}

}  // namespace

std::vector<VisibleBoard> SensorQueries::Visible(const Caller& caller,
                                                 const std::vector<VisibleDevice>& devices) const {
  return VisibleBoards(boards_, caller, devices, reader_.clock().Steady());
}

absl::StatusOr<std::vector<VisibleBoard>> SensorQueries::Boards(const Caller& caller, const std::string& device) const {
  std::vector<VisibleDevice> devices = reader_.Devices(caller);
  // First: what a tenant may see of a board takes a decision for each metric of each partition.
  if (!device.empty()) std::erase_if(devices, [&](const VisibleDevice& known) { return known.info->name != device; });
  std::vector<VisibleBoard> boards = Visible(caller, devices);
  const bool is_silent = boards.empty() && !devices.empty() && caller.May(Resource::Board(), Right::kRead);
  if (device.empty() || !boards.empty() || is_silent) return boards;
  return NotFound();
}

absl::StatusOr<std::vector<VisibleBoard>> SensorQueries::WholeBoards(const Caller& caller,
                                                                     const std::string& device) const {
  std::vector<VisibleBoard> boards;
  bool is_there = device.empty();
  if (caller.May(Resource::Board(), Right::kRead)) {
    for (const VisibleDevice& known : reader_.Devices(caller)) {
      if (!device.empty() && known.info->name != device) continue;
      is_there = true;
      if (auto reading = boards_.Newest(known.index)) boards.push_back({known.info->name, std::move(reading)});
    }
  }
  if (!is_there) return NotFound();
  return boards;
}

absl::StatusOr<sideband::v1::ListSensorsResponse> SensorQueries::List(
    const Caller& caller, const sideband::v1::ListSensorsRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const auto boards, Boards(caller, request.filter().device()));
  const SensorNames names = NamesOf(request.filter());
  sideband::v1::ListSensorsResponse response;
  for (const VisibleBoard& board : boards) {
    AddDescriptions(board, names, reader_.clock().Steady(), *response.add_devices());
  }
  return WithAllNames(std::move(response), names);
}

absl::StatusOr<sideband::v1::GetSensorsResponse> SensorQueries::Get(
    const Caller& caller, const sideband::v1::GetSensorsRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const auto boards, Boards(caller, request.filter().device()));
  const SensorNames names = NamesOf(request.filter());
  sideband::v1::GetSensorsResponse response;
  for (const VisibleBoard& board : boards) {
    AddSensors(board, names, reader_.clock().Steady(), *response.add_devices());
  }
  return WithAllNames(std::move(response), names);
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/serve.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/secret.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/serve/bus_server.h"
#include "secure_mcu/serve/devices.h"
#include "sim/bus_faults/board_fault.h"
#include "sim/bus_faults/faulty_bus.h"

namespace sideband::mcu {
namespace {

using sim::FaultKind;

// The longest time for which the chip falls behind before a command makes it catch up.
constexpr absl::Duration kTick = absl::Milliseconds(10);

absl::StatusOr<std::optional<sim::FaultPlan>> LoadFaults(const std::string& path) {
  if (path.empty()) return std::nullopt;
  SIDEBAND_ASSIGN_OR_RETURN(sim::FaultPlan plan, sim::FaultPlan::Load(path));
  for (const sim::FaultRule& rule : plan.rules) {
    // The chip file determines the catalogue of a served device.
    if (rule.kind == FaultKind::kChangeCatalog) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", sim::FaultName(rule.kind), " is not possible on a served device"));
    }
  }
  return plan;
}

// The guests of two devices may have the same names.
absl::Status CheckFolders(const ServeOptions& options, size_t devices) {
  if (devices == 1) return absl::OkStatus();
  for (const auto& [flag, folder] :
       {std::pair("--guest-views", options.guest_views), std::pair("--guest-ports", options.guest_ports)}) {
    if (folder.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " is for one device: run a server per device, each with a folder of its own"));
  }
  return absl::OkStatus();
}

void ReportFaults(const sim::FaultyBus& bus) {
  std::string counts;
  for (const auto& [name, count] : bus.Counts()) absl::StrAppend(&counts, ", ", name, " ", count);
  absl::FPrintF(stderr, "sideband-mcu: %d transactions%s\n", bus.transactions(), counts);
}

}  // namespace

absl::Status Serve(const ServeOptions& options, const std::atomic<bool>& stop) {
  SIDEBAND_ASSIGN_OR_RETURN(const smbus::BusName name, smbus::ParseBusName(options.bus));
  if (name.kind != smbus::BusName::Kind::kUnix) {
    return absl::InvalidArgumentError("an emulated device is served on a unix: bus");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<sim::FaultPlan> plan, LoadFaults(options.faults));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<Place> places, LoadPlaces(options.chips, name.address));
  SIDEBAND_RETURN_IF_ERROR(CheckFolders(options, places.size()));
  // Before the keys of devices are loaded.
  if (std::ranges::any_of(places, [](const Place& place) { return place.file.sealing.has_value(); })) {
    envelope::ProtectSecrets();
  }
  VirtualBus targets;
  Devices devices(targets, places,
                  {.persona = options.persona,
                   .guest_views = options.guest_views,
                   .guest_ports = options.guest_ports,
                   .boot_id = options.boot_id,
                   .time_of_day = options.time_of_day},
                  options.elapsed);
  SIDEBAND_RETURN_IF_ERROR(devices.PowerOn());
  sim::FaultyBus bus(targets, plan.value_or(sim::FaultPlan()),
                     {.reset = [&] { devices.Restart(); },
                      .supersede = [&] { devices.LatchByAnother(); },
                      .on_board_fault = [&](const sim::BoardFault& fault) { devices.Strike(fault); }});
  SIDEBAND_ASSIGN_OR_RETURN(const auto server, BusServer::Listen(name.path, bus, options.elapsed));
  devices.PrintAddresses(name.path);
  if (plan) absl::FPrintF(stderr, "sideband-mcu: faults of %s with seed %d\n", options.faults, plan->seed);
  while (!stop) {
    server->ServeFor(kTick, devices.guests_fd());
    SIDEBAND_RETURN_IF_ERROR(devices.Tick());
  }
  if (plan) ReportFaults(bus);
  return absl::OkStatus();
}

}  // namespace sideband::mcu

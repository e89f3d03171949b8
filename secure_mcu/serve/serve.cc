// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/serve.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/serve/bus_server.h"
#include "secure_mcu/serve/chip_file.h"
#include "secure_mcu/serve/device_slot.h"
#include "secure_mcu/serve/served_device.h"
#include "sim/bus_faults/faulty_bus.h"

namespace sideband::mcu {
namespace {

using sim::FaultKind;

// How far the chip may fall behind before a command makes it catch up.
constexpr absl::Duration kTick = absl::Milliseconds(10);

absl::StatusOr<std::optional<sim::FaultPlan>> LoadFaults(const std::string& path) {
  if (path.empty()) return std::nullopt;
  SIDEBAND_ASSIGN_OR_RETURN(sim::FaultPlan plan, sim::FaultPlan::Load(path));
  for (const sim::FaultRule& rule : plan.rules) {
    // Who is on the device is said by the chip file.
    if (rule.kind == FaultKind::kChangeCatalog) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", sim::FaultName(rule.kind), " is not possible on a served device"));
    }
  }
  return plan;
}

void ReportFaults(const sim::FaultyBus& bus) {
  std::string counts;
  for (size_t i = 0; i < sim::kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    if (bus.count(kind) > 0) absl::StrAppend(&counts, ", ", sim::FaultName(kind), " ", bus.count(kind));
  }
  absl::FPrintF(stderr, "sideband-mcu: %d transactions%s\n", bus.transactions(), counts);
}

// Where a device is on the bus, and what it is.
struct Place {
  uint8_t address;
  ChipFile file;
};

absl::StatusOr<Place> LoadPlace(const std::string& chip, const smbus::BusName& bus) {
  const size_t at = chip.rfind('@');
  if (at == std::string::npos) {
    SIDEBAND_ASSIGN_OR_RETURN(ChipFile file, LoadChipFile(chip));
    return Place{bus.address, std::move(file)};
  }
  SIDEBAND_ASSIGN_OR_RETURN(const uint8_t address, smbus::ParseAddress(chip.substr(at + 1)));
  SIDEBAND_ASSIGN_OR_RETURN(ChipFile file, LoadChipFile(chip.substr(0, at)));
  return Place{address, std::move(file)};
}

absl::StatusOr<std::vector<Place>> LoadPlaces(const ServeOptions& options, const smbus::BusName& bus) {
  std::vector<Place> places;
  for (const std::string& chip : options.chips) {
    SIDEBAND_ASSIGN_OR_RETURN(Place place, LoadPlace(chip, bus));
    for (const Place& other : places) {
      if (other.address != place.address) continue;
      return absl::InvalidArgumentError(absl::StrFormat("two devices at address 0x%02x", place.address));
    }
    places.push_back(std::move(place));
  }
  if (places.size() > 1 && !options.guest_views.empty()) {
    return absl::InvalidArgumentError("guest views are of one device: serve each with a folder of its own");
  }
  return places;
}

// The devices of one bus.
class Devices {
 public:
  Devices(VirtualBus& bus, const ServeOptions& options, const std::vector<Place>& places) {
    for (const Place& place : places) {
      // Far enough apart for the restarts of a fault plan.
      const uint64_t boot_id = options.boot_id + (uint64_t{slots_.size()} << 32);
      slots_.push_back(std::make_unique<DeviceSlot>(
          bus, place.file,
          ServedDevice::Options{.board = {.address = place.address, .persona = options.persona},
                                .boot_id = boot_id,
                                .guest_views = options.guest_views},
          options.elapsed));
    }
  }

  absl::Status PowerOn() {
    for (const auto& slot : slots_) SIDEBAND_RETURN_IF_ERROR(slot->PowerOn());
    return absl::OkStatus();
  }
  void Tell(const std::string& path) const {
    for (const auto& slot : slots_) {
      absl::FPrintF(stderr, "sideband-mcu: serving %s at address 0x%02x on %s, boot id %016x\n",
                    slot->identity().uuid.ToString(), slot->address(), path, slot->identity().boot_id);
    }
  }
  absl::Status Tick() {
    for (const auto& slot : slots_) {
      SIDEBAND_RETURN_IF_ERROR(slot->status());
      slot->Tick();
    }
    return absl::OkStatus();
  }
  // What a fault plan does to all of them.
  sim::FaultyBus::Hooks Hooks() {
    return {.reset =
                [this] {
                  for (const auto& slot : slots_) slot->Restart();
                },
            .supersede =
                [this] {
                  for (const auto& slot : slots_) slot->LatchByAnother();
                }};
  }

 private:
  std::vector<std::unique_ptr<DeviceSlot>> slots_;
};

}  // namespace

absl::Status Serve(const ServeOptions& options, const std::atomic<bool>& stop) {
  SIDEBAND_ASSIGN_OR_RETURN(const smbus::BusName name, smbus::ParseBusName(options.bus));
  if (name.kind != smbus::BusName::Kind::kUnix) {
    return absl::InvalidArgumentError("an emulated device is served on a unix: bus");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<sim::FaultPlan> plan, LoadFaults(options.faults));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<Place> places, LoadPlaces(options, name));
  VirtualBus targets;
  Devices devices(targets, options, places);
  SIDEBAND_RETURN_IF_ERROR(devices.PowerOn());
  sim::FaultyBus bus(targets, plan.value_or(sim::FaultPlan()), devices.Hooks());
  SIDEBAND_ASSIGN_OR_RETURN(const auto server, BusServer::Listen(name.path, bus, options.elapsed));
  devices.Tell(name.path);
  if (plan) absl::FPrintF(stderr, "sideband-mcu: faults of %s with seed %d\n", options.faults, plan->seed);
  while (!stop) {
    server->ServeFor(kTick);
    SIDEBAND_RETURN_IF_ERROR(devices.Tick());
  }
  if (plan) ReportFaults(bus);
  return absl::OkStatus();
}

}  // namespace sideband::mcu

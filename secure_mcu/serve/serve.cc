// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/serve.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/secret.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/bus_name.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/device/trigger_line.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "secure_mcu/firmware/system_info.h"
#include "secure_mcu/serve/bus_server.h"
#include "secure_mcu/serve/served_device.h"
#include "sim/bus/board_fault.h"
#include "sim/bus/faulty_bus.h"

namespace sideband::mcu {
namespace {

// The emulated devices of one bus, each at an address of its own.
// The place of a device on the bus. A fault plan can restart the device there, interfere as another controller
// and damage the device's board: the faults that are not faults of the wire. Not thread-safe.
class DeviceSlot {
 public:
  // `bus` and `file` must outlive the slot. The first start has the boot id of the options; each restart increments it.
  DeviceSlot(VirtualBus& bus, const ChipFile& file, ServedDevice::Options options, LiveDevice::Elapsed elapsed);

  // Starts the device, with time and counts at zero. After an error no device is at the address.
  absl::Status PowerOn();
  // PowerOn for callers that ignore its error. A success is reported on standard error.
  void Restart();
  // The status of the newest start. The device exists while it is OK.
  const absl::Status& status() const { return status_; }

  // Sends the LATCH of another controller, regardless of pending commands.
  void LatchByAnother();
  // A fault of the device's board, until the next start. Ignored while no device exists.
  void Strike(const sim::BoardFault& fault);

  uint8_t address() const { return options_.board.address; }
  // Valid only while the device exists.
  const DeviceIdentity& identity() const { return device_->identity(); }
  int guests_fd() const { return device_->guests_fd(); }
  void Tick() { device_->Tick(); }

 private:
  VirtualBus& bus_;
  const ChipFile& file_;
  ServedDevice::Options options_;  // of the next start
  const LiveDevice::Elapsed elapsed_;
  std::unique_ptr<ServedDevice> device_;
  absl::Status status_;
};

// A device of the bus: its address and its chip file.
struct Place {
  uint8_t address;
  ChipFile file;
};

// One place per "FILE" (at `address`) or "FILE@ADDRESS". Errors are those of the chip files; INVALID_ARGUMENT for a
// malformed address, and for two devices with the same address or UUID.
absl::StatusOr<std::vector<Place>> LoadPlaces(const std::vector<std::string>& chips, uint8_t address);

// Not thread-safe.
class Devices {
 public:
  struct Options {
    Persona persona = Persona::kSideband;
    std::string guest_views;  // folder of the guests' views; empty: no views
    std::string guest_ports;  // folder of the guests' ports; empty: no ports
    uint64_t boot_id = 0;     // of the first device; the ids of other devices and of restarts follow from it
    std::function<absl::Time()> time_of_day;  // as in ServedDevice::Options
  };

  // `bus` and `places` must outlive it.
  Devices(VirtualBus& bus, const std::vector<Place>& places, const Options& options,
          const LiveDevice::Elapsed& elapsed);

  absl::Status PowerOn();
  // Prints one line per device on standard error: its UUID, its address and boot id, and `path`, the bus.
  void PrintAddresses(const std::string& path) const;
  // Readable when a guest waits for the next Tick; -1 if none can. Only one device can have ports.
  int guests_fd() const { return slots_[0]->guests_fd(); }
  // Counts up to the present, and serves guests. Returns an error if a device could not be restarted.
  absl::Status Tick();

  // The effects of a fault plan, applied to all devices.
  void Restart();
  void LatchByAnother();
  void Strike(const sim::BoardFault& fault);

 private:
  // The line of that name; nullptr for a chip without one.
  TriggerLine* LineOf(const ChipFile& file);

  std::map<std::string, TriggerLine> lines_;  // by name
  std::vector<std::unique_ptr<DeviceSlot>> slots_;
};

absl::StatusOr<Place> LoadPlace(const std::string& chip, uint8_t address) {
  const size_t at = chip.rfind('@');
  if (at != std::string::npos) {
    SIDEBAND_ASSIGN_OR_RETURN(address, smbus::ParseAddress(chip.substr(at + 1)));
  }
  SIDEBAND_ASSIGN_OR_RETURN(ChipFile file, LoadChipFile(chip.substr(0, at)));
  return Place{address, std::move(file)};
}

// Controllers distinguish the devices of a bus by address and by UUID.
absl::Status CheckApart(const Place& a, const Place& b) {
  if (a.address == b.address) {
    return absl::InvalidArgumentError(absl::StrFormat("two devices at address 0x%02x", a.address));
  }
  if (a.file.uuid == b.file.uuid) {
    return absl::InvalidArgumentError(
        absl::StrCat("two devices have the UUID ", a.file.uuid.ToString(), ", one in ", a.file.path));
  }
  return absl::OkStatus();
}

DeviceSlot::DeviceSlot(VirtualBus& bus, const ChipFile& file, ServedDevice::Options options,
                       LiveDevice::Elapsed elapsed)
    : bus_(bus), file_(file), options_(std::move(options)), elapsed_(std::move(elapsed)) {}

absl::Status DeviceSlot::PowerOn() {
  if (device_) device_->board().Disconnect(bus_);
  device_.reset();  // the new device writes the same guests' views
  options_.powered_on = elapsed_();
  // The reference clock of a restarted device begins at zero.
  auto device = ServedDevice::PowerOn(file_, options_,
                                      [elapsed = elapsed_, start = options_.powered_on] { return elapsed() - start; });
  status_ = device.status();
  SIDEBAND_RETURN_IF_ERROR(status_);
  device_ = *std::move(device);
  device_->board().Connect(bus_);
  ++options_.boot_id;
  return absl::OkStatus();
}

void DeviceSlot::Restart() {
  if (PowerOn().ok()) absl::FPrintF(stderr, "sideband-mcu: restarted as planned, boot id %016x\n", identity().boot_id);
}

void DeviceSlot::LatchByAnother() {
  const bool is_own = file_.extension == mailbox::ExtensionVersion::kTwo;
  ByteWriter out;
  out.U8(is_own ? mailbox::kOwnRegisters.command : mailbox::kSharedRegisters.command);
  out.U8(mailbox::kRegisterBytes);
  out.U32(mailbox::CommandWord{.opcode = mailbox::Opcode::kLatch, .execute = true}.Encode());
  const uint8_t address_byte = smbus::AddressByte(address(), /*read=*/false);
  out.U8(smbus::Pec(out.written(), smbus::Pec({&address_byte, 1})));
  bus_.Execute({{smbus::Message::Write(address(), std::move(out).Take())}});
}

void DeviceSlot::Strike(const sim::BoardFault& fault) {
  if (device_) device_->Strike(fault);
}

absl::StatusOr<std::vector<Place>> LoadPlaces(const std::vector<std::string>& chips, uint8_t address) {
  std::vector<Place> places;
  for (const std::string& chip : chips) {
    SIDEBAND_ASSIGN_OR_RETURN(Place place, LoadPlace(chip, address));
    for (const Place& other : places) SIDEBAND_RETURN_IF_ERROR(CheckApart(place, other));
    places.push_back(std::move(place));
  }
  return places;
}

Devices::Devices(VirtualBus& bus, const std::vector<Place>& places, const Options& options,
                 const LiveDevice::Elapsed& elapsed) {
  for (const Place& place : places) {
    // 2^32 ids per device for the restarts of a fault plan.
    const uint64_t boot_id = options.boot_id + (uint64_t{slots_.size()} << 32);
    slots_.push_back(std::make_unique<DeviceSlot>(
        bus, place.file,
        ServedDevice::Options{.board = {.address = place.address, .persona = options.persona},
                              .boot_id = boot_id,
                              .guest_views = options.guest_views,
                              .guest_ports = options.guest_ports,
                              .line = LineOf(place.file),
                              .time_of_day = options.time_of_day},
        elapsed));
  }
}

TriggerLine* Devices::LineOf(const ChipFile& file) {
  return file.trigger_line ? &lines_[file.trigger_line->name] : nullptr;
}

absl::Status Devices::PowerOn() {
  for (const auto& slot : slots_) SIDEBAND_RETURN_IF_ERROR(slot->PowerOn());
  return absl::OkStatus();
}

void Devices::PrintAddresses(const std::string& path) const {
  for (const auto& slot : slots_) {
    absl::FPrintF(stderr, "sideband-mcu: serving %s at address 0x%02x on %s, boot id %016x\n",
                  slot->identity().uuid.ToString(), slot->address(), path, slot->identity().boot_id);
  }
}

absl::Status Devices::Tick() {
  for (const auto& slot : slots_) {
    SIDEBAND_RETURN_IF_ERROR(slot->status());
    slot->Tick();
  }
  return absl::OkStatus();
}

void Devices::Restart() {
  for (const auto& slot : slots_) slot->Restart();
}

void Devices::LatchByAnother() {
  for (const auto& slot : slots_) slot->LatchByAnother();
}

void Devices::Strike(const sim::BoardFault& fault) {
  for (const auto& slot : slots_) slot->Strike(fault);
}

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

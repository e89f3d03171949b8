// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/devices.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/bus_name.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/chip_file/chip_file.h"

namespace sideband::mcu {
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

namespace {

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

}  // namespace

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

}  // namespace sideband::mcu

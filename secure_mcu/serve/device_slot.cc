// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/device_slot.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/registers.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/pec.h"

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

}  // namespace sideband::mcu

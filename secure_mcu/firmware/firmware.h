// SPDX-License-Identifier: Apache-2.0
//
// The microcontroller's firmware: carries out mailbox commands. Which opcodes, with which arguments and statuses, is
// said in mailbox.md and proto/mailbox/README.md.
//   Firmware firmware(device, PowerModel(power));
//   MailboxTarget target(0x4F, firmware);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_

#include <cstdint>

#include "proto/mailbox/word.h"
#include "secure_mcu/bus/mailbox_target.h"
#include "secure_mcu/firmware/copy_engine.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/power_model.h"

namespace sideband::mcu {

// Not thread-safe.
class Firmware final : public CommandHandler {
 public:
  // `device` must outlive it.
  Firmware(Device& device, PowerModel power);

  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) override;
  ByteSpan Window(uint8_t index) const override;

 private:
  // Which stream the windows show, and from where on.
  enum class Open { kNothing, kCatalog, kSnapshot };

  Reply GetCapabilities(uint8_t dword) const;
  Reply GetTemperature(uint8_t sensor, bool with_fraction);
  Reply GetPower(uint8_t source);
  Reply GetSysId(uint8_t item, uint8_t dword) const;
  Reply Discover(uint8_t item) const;
  Reply ReadCatalog(uint32_t offset);
  Reply Latch();
  Reply ReadSnapshot(uint8_t selector, uint32_t offset, uint32_t snapshot_id);
  Reply Acknowledge(uint32_t snapshot_id);
  Reply OpenAt(Open stream, uint32_t offset, uint32_t extended_data);
  ByteSpan Stream(Open stream) const;

  Device& device_;
  PowerModel power_;
  CopyEngine copy_engine_;
  Open open_ = Open::kNothing;
  uint32_t offset_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_

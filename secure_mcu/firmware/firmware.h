// SPDX-License-Identifier: Apache-2.0
//
// The microcontroller's firmware: carries out mailbox commands. Which opcodes, with which arguments and statuses, is
// said in mailbox.md and proto/mailbox/README.md.
//   Firmware firmware(device, PowerModel(power), Persona::kSideband);
//   MailboxTarget target(0x4F, firmware);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_

#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/bus/command_handler.h"
#include "secure_mcu/firmware/base_commands.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/persona.h"
#include "secure_mcu/firmware/power_model.h"
#include "secure_mcu/firmware/snapshot_commands.h"

namespace sideband::mcu {

// Not thread-safe.
class Firmware final : public CommandHandler {
 public:
  // `device` must outlive it.
  Firmware(Device& device, PowerModel power, Persona persona = Persona::kSideband);

  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) override;
  ByteSpan Window(uint8_t index) const override { return snapshots_.Window(index); }
  bool EventPending() const override { return base_.EventPending(); }

 private:
  BaseCommands base_;
  SnapshotCommands snapshots_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_

// SPDX-License-Identifier: Apache-2.0
//
// The firmware behind both of a mailbox's sets of registers. (mailbox.md, "Version 2".)
//   FirmwarePair firmware(device, power, Persona::kSideband, mailbox::ExtensionVersion::kTwo);
//   MailboxTarget target(0x4F, firmware.shared(), {.registers = {}, .own_handler = firmware.own()});
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_PAIR_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_PAIR_H_

#include <optional>

#include "proto/mailbox/extension.h"
#include "secure_mcu/bus/command_handler.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/persona.h"
#include "secure_mcu/firmware/power_model.h"

namespace sideband::mcu {

// Version 1 of the extension is served at the shared registers, version 2 at registers of its own alone. Not
// thread-safe.
class FirmwarePair {
 public:
  // `device` must outlive it. Without a version, the device has base commands alone.
  FirmwarePair(Device& device, const PowerModel& power, Persona persona,
               std::optional<mailbox::ExtensionVersion> extension, const ComplementPolicy& complement = {},
               const BoardSpec& board = {});

  CommandHandler& shared() { return shared_; }
  // nullptr if the device has no registers of its own.
  CommandHandler* own() { return own_ ? &*own_ : nullptr; }
  // What both serve. Its physics go on with Tick, which is to be called at least every 100 ms.
  BoardUnit& board() { return board_; }
  void Tick() { board_.physics.Tick(); }

 private:
  BoardUnit board_;
  Firmware shared_;
  std::optional<Firmware> own_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_PAIR_H_

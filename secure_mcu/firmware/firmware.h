// SPDX-License-Identifier: Apache-2.0
//
// The microcontroller's firmware: executes mailbox commands. mailbox.md and proto/mailbox/README.md specify the
// opcodes, arguments and statuses.
//   BoardUnit board(device, PowerModel(power));
//   Firmware firmware(device, board, {.extension = mailbox::ExtensionVersion::kOne});
//   MailboxTarget target(0x4F, firmware);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_

#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/base_commands.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/extension_commands.h"
#include "secure_mcu/firmware/system_info.h"

namespace sideband::mcu {

// Serves one set of registers: a device of version 2 has two objects, whose clients do not affect each other. Not
// thread-safe.
class Firmware final : public CommandHandler {
 public:
  struct Options {
    Persona persona = Persona::kSideband;
    // The version of the snapshot extension that these registers serve; none: ERR_OPCODE for its commands.
    std::optional<mailbox::ExtensionVersion> extension;
    ComplementPolicy complement = {};
  };

  // Both must outlive it.
  Firmware(Device& device, BoardUnit& board, const Options& options);

  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) override;
  ByteSpan Window(uint8_t index) const override { return snapshots_ ? snapshots_->Window(index) : ByteSpan(); }
  bool WriteWindow(uint8_t index, ByteSpan bytes) override {
    return snapshots_ && snapshots_->WriteWindow(index, bytes);
  }
  bool EventPending() const override { return base_.EventPending(); }

 private:
  BaseCommands base_;
  std::optional<SnapshotCommands> snapshots_;
};

// The firmware behind both of a mailbox's sets of registers. (mailbox.md, "Version 2".)
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
  // The board that both serve. Its physics go on with Tick, which is to be called at least every 100 ms.
  BoardUnit& board() { return board_; }
  void Tick() { board_.physics.Tick(); }

 private:
  BoardUnit board_;
  Firmware shared_;
  std::optional<Firmware> own_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_FIRMWARE_H_

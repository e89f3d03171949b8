// SPDX-License-Identifier: Apache-2.0
//
// The commands of the snapshot extension (proto/mailbox/README.md): latch the whole device, and stream the snapshot in
// windows. Passes PEEK on to peek_commands.h.
//   SnapshotCommands commands(device, mailbox::ExtensionVersion::kTwo);
//   const CommandHandler::Reply latched = commands.Execute({.opcode = mailbox::Opcode::kLatch}, 0, 0);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SNAPSHOT_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SNAPSHOT_COMMANDS_H_

#include "proto/base/bytes.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/config_commands.h"
#include "secure_mcu/firmware/copy_engine.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/peek_commands.h"
#include "secure_mcu/firmware/reply.h"
#include "secure_mcu/firmware/rotate_commands.h"
#include "secure_mcu/firmware/seal_commands.h"
#include "secure_mcu/firmware/trigger_commands.h"
#include "secure_mcu/firmware/upload_buffer.h"

namespace sideband::mcu {

// Not thread-safe.
class SnapshotCommands {
 public:
  // `device` must outlive it.
  SnapshotCommands(Device& device, mailbox::ExtensionVersion version)
      : device_(device),
        version_(version),
        copy_engine_(device, version),
        peeks_(device),
        configs_(device, copy_engine_),
        rotations_(device, uploads_),
        seals_(device, uploads_),
        triggers_(device) {}

  // ERR_OPCODE for opcodes that are not served.
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  // As CommandHandler::Window.
  ByteSpan Window(uint8_t index) const;
  bool WriteWindow(uint8_t index, ByteSpan bytes) { return uploads_.Write(index, bytes); }

 private:
  // The stream shown by the windows, from offset_ on.
  enum class Open { kNothing, kCatalog, kSnapshot, kPeek, kConfig, kPlan, kTriggers, kExchange };

  bool IsServed(mailbox::Opcode opcode);
  uint32_t ServedOpcodes();
  uint64_t Features();
  Reply Discover(uint8_t item);
  // CATALOG, LATCH and READ.
  Reply Stream(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  Reply ReadCatalog(uint32_t offset);
  Reply Latch(uint32_t base_id);
  Reply ReadSnapshot(uint8_t selector, uint32_t offset, uint32_t extended_data);
  Reply Acknowledge(const mailbox::CommandWord& command, uint32_t snapshot_id);
  Reply Peek(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  Reply Rotate(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  Reply Seal(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  Reply Config(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  Reply Trigger(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);
  // The mark of a snapshot of this boot.
  uint16_t MarkOf(uint32_t snapshot_id) const;
  Reply OpenAt(ByteSpan stream, Open open, uint32_t offset, uint32_t extended_data);

  Device& device_;
  const mailbox::ExtensionVersion version_;
  CopyEngine copy_engine_;
  PeekCommands peeks_;
  ConfigCommands configs_;
  UploadBuffer uploads_;
  RotateCommands rotations_;
  SealCommands seals_;
  TriggerCommands triggers_;
  Open open_ = Open::kNothing;
  uint32_t offset_ = 0;
  uint32_t window_bytes_ = mailbox::kWindowBytes;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SNAPSHOT_COMMANDS_H_

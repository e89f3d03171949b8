// SPDX-License-Identifier: Apache-2.0
//
// Opcode TRIGGER of the extension: bank swaps that controllers ask for, and what they tell of clocks and of work.
// (proto/mailbox/README.md, "TRIGGER"; proto/mailbox/extension.h, TriggerStep.)
//   TriggerCommands triggers(device);
//   const Reply reply = triggers.Execute({.opcode = mailbox::Opcode::kTrigger, .arg1 = 1}, 65536, 0);
//   if (TriggerCommands::OpensStream(command)) Show(triggers.stream());
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_TRIGGER_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_TRIGGER_COMMANDS_H_

#include <cstdint>

#include "proto/base/bytes.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// Not thread-safe.
class TriggerCommands {
 public:
  // `device` must outlive it, and be one that CanTrigger() when a command comes.
  explicit TriggerCommands(Device& device) : device_(device) {}

  // A refused command changes nothing.
  Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);

  // TIMELINE and HULLS, whose second datum is the offset of the windows.
  static bool OpensStream(const mailbox::CommandWord& command);
  // The answer to the last of these.
  ByteSpan stream() const { return stream_; }

 private:
  Reply OfDomains(mailbox::TriggerStep step, uint32_t data, uint32_t extended_data);
  Reply Select(uint64_t domains);
  Reply Bookmark(uint32_t scope, uint32_t bookmark);
  Reply Open(mailbox::TriggerStep step, uint32_t first_trigger_id, uint32_t offset);
  void MakeStream(mailbox::TriggerStep step, uint32_t first_trigger_id);

  Device& device_;
  Bytes stream_;
  mailbox::TriggerStep stream_step_ = mailbox::TriggerStep::kTimeline;
  uint32_t stream_first_ = 0;
  uint32_t stream_newest_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_TRIGGER_COMMANDS_H_

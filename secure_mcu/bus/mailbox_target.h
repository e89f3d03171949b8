// SPDX-License-Identifier: Apache-2.0
//
// The mailbox on the wire: the three registers, the vendor id, the block windows, and the packet error code. It accepts
// what public clients send (mailbox.md, "Base protocol"; facts sheet 1.2 and 7): SMBus and I2C block writes and raw
// six-byte writes, with or without PEC; a command code and a repeated START or a STOP and START before a read; reads of
// any length; empty writes.
//   MailboxTarget target(0x4F, firmware);
//   bus.Connect(0x4F, target);
#ifndef SIDEBAND_SECURE_MCU_BUS_MAILBOX_TARGET_H_
#define SIDEBAND_SECURE_MCU_BUS_MAILBOX_TARGET_H_

#include <cstdint>

#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/bus/bus_target.h"
#include "secure_mcu/bus/command_handler.h"
#include "secure_mcu/bus/mailbox_registers.h"

namespace sideband::mcu {

// A write takes effect when its message ends, but a command is carried out at the STOP. A controller that dies in the
// middle leaves nothing behind: the next START begins a new message, and what came of the old one is judged as if it
// had ended there.
// Not thread-safe.
class MailboxTarget final : public BusTarget {
 public:
  struct Options {
    uint16_t vendor_id = mailbox::kVendorId;
    MailboxRegisters::Options registers;
  };

  // `handler` must outlive it; `address` is its own, which the PEC covers.
  MailboxTarget(uint8_t address, CommandHandler& handler);
  MailboxTarget(uint8_t address, CommandHandler& handler, Options options);

  void Start(bool read) override;
  // Refuses a wrong PEC, what follows a PEC, and what is longer than any block.
  bool Write(uint8_t byte) override;
  uint8_t Read() override;
  void Stop() override;

  // Writes that were discarded for a wrong PEC.
  uint64_t pec_errors() const { return pec_errors_; }

 private:
  enum class Refusal { kNone, kWrongPec, kTooLong };

  Refusal Judge() const;
  void EndWrite();
  void PrepareRead();
  Bytes Answer() const;
  Bytes RegisterBlock();

  const uint8_t address_;
  const uint16_t vendor_id_;
  CommandHandler& handler_;
  MailboxRegisters registers_;
  uint8_t code_ = 0;         // kept across STOP
  bool is_writing_ = false;  // the running message is a write
  uint8_t pec_ = 0;          // of the bytes so far; a read's covers the command code before it
  Bytes received_;           // of the running write message: command code, count, data, PEC
  Refusal refusal_ = Refusal::kNone;
  Bytes answer_;  // of the running read message
  size_t answered_ = 0;
  uint64_t pec_errors_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BUS_MAILBOX_TARGET_H_

// SPDX-License-Identifier: Apache-2.0
//
// The mailbox on the wire: its one or two sets of registers, the vendor id, the signature, the block windows, and the
// packet error code. It accepts
// the transactions of public clients (mailbox.md, "Base protocol"; facts sheet 1.2 and 7): SMBus and I2C block writes
// and raw six-byte writes, with or without PEC; before a read, a command code (Send Byte, with or without PEC) followed
// by a repeated START or by a STOP and START; reads of any length; empty writes.
//   MailboxTarget target(0x4F, firmware);
//   bus.Connect(0x4F, target);
#ifndef SIDEBAND_SECURE_MCU_BUS_MAILBOX_TARGET_H_
#define SIDEBAND_SECURE_MCU_BUS_MAILBOX_TARGET_H_

#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/bus/bus_target.h"
#include "secure_mcu/bus/command_handler.h"
#include "secure_mcu/bus/mailbox_registers.h"

namespace sideband::mcu {

// A register write takes effect when its message ends; a command is executed at the STOP. A controller that fails
// within a transaction leaves no state behind: the next START begins a new message, and the old message is handled as
// if it had ended there.
class MailboxTarget final : public BusTarget {
 public:
  struct Options {
    uint16_t vendor_id = mailbox::kVendorId;
    MailboxRegisters::Options registers;
    // Executes the commands of the extension's own registers (C8 to CA) and fills the windows, and must outlive the
    // target. Null: the device has no such registers and no signature, and `handler` fills the windows.
    CommandHandler* own_handler = nullptr;
  };

  // `handler` must outlive the target. `address` is the target's own address, which the PEC covers.
  MailboxTarget(uint8_t address, CommandHandler& handler);
  MailboxTarget(uint8_t address, CommandHandler& handler, Options options);

  void Start(bool read) override;
  // Refuses a wrong PEC, bytes after a PEC, and bytes beyond the longest block write.
  bool Write(uint8_t byte) override;
  uint8_t Read() override;
  void Stop() override;

  // Register writes that were discarded because of a wrong PEC.
  uint64_t pec_errors() const { return pec_errors_; }

 private:
  enum class Refusal { kNone, kWrongPec, kTooLong };

  Refusal Judge() const;
  bool IsRegister(uint8_t code) const { return shared_.Has(code) || (own_ && own_->Has(code)); }
  bool IsRegisterWrite(const Bytes& message) const;
  // Devices with registers of their own take blocks at their windows.
  bool IsWindowWrite(const Bytes& message) const;
  // The set of registers that a code belongs to, also if it is not a register itself.
  MailboxRegisters& SetOf(uint8_t code);
  void EndWrite();
  void PrepareRead();
  Bytes Answer() const;
  Bytes RegisterBlock();

  const uint8_t address_;
  const uint16_t vendor_id_;
  CommandHandler& window_handler_;
  MailboxRegisters shared_;
  std::optional<MailboxRegisters> own_;
  uint8_t code_ = 0;         // kept across STOP, unless it is one of the extension's own
  uint8_t shared_code_ = 0;  // the last kept one
  bool is_writing_ = false;  // the current message is a write
  uint8_t pec_ = 0;          // of the bytes so far; for a read, includes the command code before it
  Bytes received_;           // of the current write message: command code, count, data, PEC
  Refusal refusal_ = Refusal::kNone;
  Bytes answer_;  // of the current read message
  size_t answered_ = 0;
  uint64_t pec_errors_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BUS_MAILBOX_TARGET_H_

// SPDX-License-Identifier: Apache-2.0
//
// The mailbox on the wire: the three registers, the block windows, and the packet error code. It accepts what public
// clients send (mailbox.md, "Base protocol"; facts sheet 1.2 and 7): SMBus block writes and raw six-byte writes, with
// or without PEC; a command code and a repeated START or a STOP and START before a read; reads of any length; empty
// writes.
#ifndef SIDEBAND_SECURE_MCU_BUS_MAILBOX_TARGET_H_
#define SIDEBAND_SECURE_MCU_BUS_MAILBOX_TARGET_H_

#include <cstdint>

#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/bus/bus_target.h"
#include "secure_mcu/bus/command_handler.h"

namespace sideband::mcu {

// Not thread-safe.
class MailboxTarget final : public BusTarget {
 public:
  // `handler` must outlive it; `address` is its own, which the PEC covers.
  MailboxTarget(uint8_t address, CommandHandler& handler) : address_(address), handler_(handler) {}

  void Start(bool read) override;
  bool Write(uint8_t byte) override;
  uint8_t Read() override;
  void Stop() override;

  // Transactions that were discarded for a wrong PEC.
  uint64_t pec_errors() const { return pec_errors_; }

 private:
  void EndWrite();
  void StoreRegister(uint8_t code, uint32_t value);
  void ExecuteCommand(uint32_t word);
  void PrepareRead();
  uint32_t* Register(uint8_t code);

  const uint8_t address_;
  CommandHandler& handler_;
  uint32_t status_ = mailbox::kBootWord;
  uint32_t data_ = 0;
  uint32_t extended_data_ = 0;
  uint8_t code_ = 0;  // kept across STOP
  bool in_transaction_ = false;
  uint8_t pec_ = 0;  // of the transaction so far
  Bytes received_;   // of the running write message: command code, count, data, PEC
  Bytes answer_;     // of the running read message
  size_t answered_ = 0;
  uint64_t pec_errors_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BUS_MAILBOX_TARGET_H_

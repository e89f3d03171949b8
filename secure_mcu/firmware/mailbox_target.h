// SPDX-License-Identifier: Apache-2.0
//
// The virtual bus, which executes whole transactions at its targets, and the mailbox as one of them: its one or two
// sets of registers, the vendor id, the signature, the block windows, and the packet error code. The mailbox accepts
// the transactions of public clients (mailbox.md, "Base protocol"; facts sheet 1.2 and 7): SMBus and I2C block writes
// and raw six-byte writes, with or without PEC; before a read, a command code (Send Byte, with or without PEC) followed
// by a repeated START or by a STOP and START; reads of any length; empty writes.
//   VirtualBus bus;
//   MailboxTarget target(0x4F, firmware);
//   bus.Connect(0x4F, target);
//   const smbus::TransferResult result = bus.Execute(transfer);
//
//   PresenceTarget eeprom;
//   bus.Connect(0x50, eeprom);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_MAILBOX_TARGET_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_MAILBOX_TARGET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/firmware/command_handler.h"

namespace sideband::mcu {

// A target on an I2C bus, as seen by its interrupt handlers: START, bytes, STOP.
// Calls follow the order on the wire: Start (again for a repeated START), then Write or Read for each byte of that
// message, and one Stop at the end of the transaction.
class BusTarget {
 public:
  virtual ~BusTarget() = default;
  // The target's address was sent. The target always acknowledges it.
  virtual void Start(bool read) = 0;
  // Receives a byte from the controller; false refuses it (NACK).
  virtual bool Write(uint8_t byte) = 0;
  // Returns a byte for the controller.
  virtual uint8_t Read() = 0;
  virtual void Stop() = 0;
};

// A target that only acknowledges its address, for controllers that probe a board for its devices.
// Empty writes succeed, every byte is refused, and reads return the bytes of an idle bus.
class PresenceTarget final : public BusTarget {
 public:
  void Start(bool /*read*/) override {}
  bool Write(uint8_t /*byte*/) override { return false; }
  uint8_t Read() override { return 0xFF; }
  void Stop() override {}
};

// A bus with targets at addresses. Not thread-safe.
class VirtualBus final : public smbus::Bus {
 public:
  // `target` must outlive the bus. One target per 7-bit address.
  void Connect(uint8_t address, BusTarget& target) { targets_[address] = &target; }
  // Removes the target at the address.
  void Disconnect(uint8_t address) { targets_.erase(address); }

  // A message to an address without a target ends the transaction with kAddressNack, a refused byte with kDataNack,
  // and a block count of 0 with kBadCount. The result keeps the data read before.
  smbus::TransferResult Execute(const smbus::Transfer& transfer) override;

 private:
  std::map<uint8_t, BusTarget*> targets_;
};

// The mailbox's three registers and the execution of a command, independent of the wire protocol: when a command
// starts, when its result appears, and which statuses report writes to a busy mailbox.
// The mailbox is busy from the write of a command until its result appears: 5C reads as the command with bit 31 set
// and status 0, 5D and 5E as before. A write during that time affects neither the command nor its result:
//   5C       The command is ignored. The first status read after the end of the running command is ERR_BUSY, with the
//            opcode and arguments of the ignored command; later reads give the status of the executed command.
//   5D, 5E   The data is kept for the next command. Until that command has run, both read as the running one's
//   result.
// Not thread-safe.
class MailboxRegisters {
 public:
  struct Options {
    // Microseconds since an arbitrary instant; must not go back. Without a clock there is no latency.
    std::function<uint64_t()> now_us;
    // Time from the STOP, which executes a command, to the appearance of its result.
    uint64_t latency_us = 0;
  };

  // `codes` are the command codes of the registers. `handler` must outlive it.
  MailboxRegisters(mailbox::RegisterSet codes, CommandHandler& handler, Options options)
      : codes_(codes), handler_(handler), options_(std::move(options)) {}

  bool Has(uint8_t code) const { return codes_.Has(code); }
  bool IsCommand(uint8_t code) const { return code == codes_.command; }

  // Handles a complete write of a register. Only a command word with bit 31 set starts a command, with the data
  // registers' current content.
  void Write(uint8_t code, uint32_t value);
  // Handles a malformed write: the next status (after the end of a running command) is ERR_REQUEST.
  void Malformed();
  // Handles the STOP of the transaction: executes a command that was written in it.
  void Stop();

  // `code` must be one of the three registers.
  uint32_t Read(uint8_t code);
  // Confirms that the controller has received the whole word of the last read of 5C. A status that is shown only once
  // is then dropped.
  void StatusTaken();

 private:
  static constexpr int kLatches = 2;
  // 5D or 5E: the input of the next command, and the value that is read.
  struct DataLatch {
    uint32_t in = 0;
    uint32_t out = 0;
    bool kept = false;  // `in` was written while a command was running
  };
  struct Command {
    mailbox::CommandWord word;
    uint32_t data;
    uint32_t extended_data;
    bool carried_out = false;
    CommandHandler::Reply reply;
    uint64_t visible_us = 0;
  };

  DataLatch& LatchOf(uint8_t code) { return latches_[code == codes_.data ? 0 : 1]; }
  void StartCommand(const mailbox::CommandWord& word);
  // Publishes the result of an executed command once its latency has passed.
  void Settle();
  uint32_t Status();

  const mailbox::RegisterSet codes_;
  CommandHandler& handler_;
  const Options options_;
  DataLatch latches_[kLatches];
  std::optional<Command> running_;
  uint32_t status_ = mailbox::kBootWord;
  std::optional<uint32_t> complaint_;  // shown once instead of the status
  bool complaint_shown_ = false;       // complaint_ was returned by the last read
};

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

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_MAILBOX_TARGET_H_

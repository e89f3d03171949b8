// SPDX-License-Identifier: Apache-2.0
//
// The mailbox's three registers and the command that runs behind them, without the wire: when a command starts, when
// its result shows, and what is said to those who disturb it.
//   MailboxRegisters registers(handler, {.now_us = now_us, .latency_us = 300});
//   registers.Write(mailbox::kCommandRegister, 0x80000002);
//   registers.Stop();                                              // carried out
//   registers.Read(mailbox::kCommandRegister);                     // 0x80000002: busy, until 300 us later 0x1F000002
#ifndef SIDEBAND_SECURE_MCU_BUS_MAILBOX_REGISTERS_H_
#define SIDEBAND_SECURE_MCU_BUS_MAILBOX_REGISTERS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "proto/mailbox/word.h"
#include "secure_mcu/bus/command_handler.h"

namespace sideband::mcu {

// From the write of a command until its result shows the mailbox is busy: 5C reads as the command with bit 31 set and
// no status, 5D and 5E as before. What is written meanwhile disturbs neither the command nor its result:
//   5C       is refused; the first status that is read after the command's end is ERR_BUSY, with the refused command's
//            opcode and arguments, and those after it are the command's own.
//   5D, 5E   are kept for the next command; they read as the result until then.
// Not thread-safe.
class MailboxRegisters {
 public:
  struct Options {
    // Microseconds since any moment; it must not go back. Without it there is no latency.
    std::function<uint64_t()> now_us;
    // From the STOP, at which a command is carried out, until its result shows.
    uint64_t latency_us = 0;
  };

  // `handler` must outlive it.
  MailboxRegisters(CommandHandler& handler, Options options) : handler_(handler), options_(std::move(options)) {}

  static bool Has(uint8_t code) { return LatchOf(code) >= 0 || code == mailbox::kCommandRegister; }

  // A whole write of a register arrived. Only a command word with bit 31 set starts a command, with the data of now.
  void Write(uint8_t code, uint32_t value);
  // A malformed write arrived: the next status is ERR_REQUEST.
  void Malformed();
  // The STOP of the transaction, at which a command that was written in it is carried out.
  void Stop();

  // `code` is one of the three.
  uint32_t Read(uint8_t code);
  // The controller has the word that the last read of 5C gave.
  void StatusTaken();

 private:
  static constexpr int kLatches = 2;
  // 5D or 5E: what the next command takes, and what is read.
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

  // -1 where the code is no data register's.
  static int LatchOf(uint8_t code);
  void StartCommand(const mailbox::CommandWord& word);
  // Shows the result of a command whose time has come.
  void Settle();
  uint32_t Status();

  CommandHandler& handler_;
  const Options options_;
  DataLatch latches_[kLatches];
  std::optional<Command> running_;
  uint32_t status_ = mailbox::kBootWord;
  std::optional<uint32_t> complaint_;  // shown once instead of the status
  bool complaint_shown_ = false;       // by the last read
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BUS_MAILBOX_REGISTERS_H_

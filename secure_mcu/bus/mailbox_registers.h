// SPDX-License-Identifier: Apache-2.0
//
// The mailbox's three registers and the execution of a command, independent of the wire protocol: when a command
// starts, when its result appears, and which statuses report writes to a busy mailbox.
//   MailboxRegisters registers(mailbox::kSharedRegisters, handler, {.now_us = now_us, .latency_us = 300});
//   registers.Write(mailbox::kCommandRegister, 0x80000002);
//   registers.Stop();                                              // executes the command
//   registers.Read(mailbox::kCommandRegister);                     // 0x80000002: busy, until 300 us later 0x1F000002
#ifndef SIDEBAND_SECURE_MCU_BUS_MAILBOX_REGISTERS_H_
#define SIDEBAND_SECURE_MCU_BUS_MAILBOX_REGISTERS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "proto/mailbox/registers.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/bus/command_handler.h"

namespace sideband::mcu {

// The mailbox is busy from the write of a command until its result appears: 5C reads as the command with bit 31 set and
// status 0, 5D and 5E as before. A write during that time affects neither the command nor its result:
//   5C       The command is ignored. The first status read after the end of the running command is ERR_BUSY, with the
//            opcode and arguments of the ignored command; later reads give the status of the executed command.
//   5D, 5E   The data is kept for the next command. Until that command has run, both read as the running one's result.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BUS_MAILBOX_REGISTERS_H_

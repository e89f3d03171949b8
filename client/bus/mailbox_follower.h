// SPDX-License-Identifier: Apache-2.0
//
// Decodes the mailbox traffic of one device from its bus transactions: the meaning of each message, given the messages
// before it. Reads of the data registers are interpreted by the command that was last executed.
//   MailboxFollower follower(budget);
//   follower.Message(message, pec, is_pointer, notes);   // notes: "-> command: GET_TEMP GPU0"
//
// A line begins with "-> " (controller to device), "<- " (device to controller), or "!! " (error).
#ifndef SIDEBAND_CLIENT_BUS_MAILBOX_FOLLOWER_H_
#define SIDEBAND_CLIENT_BUS_MAILBOX_FOLLOWER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/bus/command_text.h"
#include "client/bus/stream_follower.h"
#include "client/bus/wire.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

// Decodes the request of a mailbox command, and the values of its registers after it. The texts of each opcode are rows
// of command_text.h.

// A request as text: "GET_TEMP GPU0". Arguments without a known meaning are shown as numbers unless they are 0.
std::string CommandText(const mailbox::CommandWord& command, const DataRegisters& in);

// The values of registers 5D and 5E after `command` has succeeded; hexadecimal if the meaning is unknown.
std::string DataText(const mailbox::CommandWord& command, uint32_t value);
std::string ExtendedDataText(const mailbox::CommandWord& command, uint32_t value);

// Bits 23:0 of the reply's word after `command` has succeeded, where they are data; empty for the commands whose reply
// has the request's opcode and arguments there.
std::string WordText(const mailbox::CommandWord& command, uint32_t word);

// Not thread-safe. All bytes from the bus are hostile.
class MailboxFollower {
 public:
  // `budget` must outlive the follower.
  explicit MailboxFollower(StreamFollower::Budget& budget) : stream_(budget) {}

  // Decodes one message of a transaction. `pec_before` is the packet error code of the transaction's bytes before the
  // message's data, this message's address byte included. Marks the message's own packet error code, if present, and
  // appends the meaning to `notes`. `is_pointer` is true if a read of the same device follows in this transaction.
  void Message(WireMessage& message, uint8_t pec_before, bool is_pointer, std::vector<std::string>& notes);

 private:
  using Notes = std::vector<std::string>;

  void Write(WireMessage& message, uint8_t pec_before, bool is_pointer, Notes& notes);
  // One set of registers and its newest command. The sets share nothing but the open stream.
  struct Mailbox {
    mailbox::RegisterSet codes;
    DataRegisters registers;
    bool data_is_input = false;  // written since the last command, so not that command's output
    bool extended_data_is_input = false;
    std::optional<mailbox::CommandWord> command;  // the last executed command
    bool has_failed = false;                      // that command has failed
  };
  Mailbox& MailboxOf(uint8_t code) { return own_.codes.Has(code) ? own_ : shared_; }

  // A device serves the extension at one set of registers.
  bool OpensStreams(const Mailbox& mailbox) const { return &mailbox == &own_ || !own_.command; }

  void WriteRegister(uint8_t code, uint32_t value, Notes& notes);
  void GiveCommand(Mailbox& mailbox, uint32_t word, Notes& notes);
  void Read(WireMessage& message, uint8_t pec_before, Notes& notes);
  void ReadBlock(ByteSpan block, Notes& notes);
  void ReadRegister(uint8_t code, uint32_t value, Notes& notes);
  // Passes the parts of the command's output that concern a stream to `stream_`.
  void FeedStream(const mailbox::CommandWord& command, bool is_data, uint32_t value);
  void ReadStatus(Mailbox& mailbox, uint32_t word, Notes& notes);

  std::optional<uint8_t> code_;  // the code that reads refer to; it outlives the STOP
  Mailbox shared_{.codes = mailbox::kSharedRegisters};
  Mailbox own_{.codes = mailbox::kOwnRegisters};
  StreamFollower stream_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_MAILBOX_FOLLOWER_H_

// SPDX-License-Identifier: Apache-2.0
//
// One device's mailbox as somebody sees it who watches its bus: what each message means, given those before it. A read
// of the data register is told in the terms of the command that was run.
//   MailboxFollower follower(budget);
//   follower.Message(message, pec, is_pointer, notes);   // notes: "-> command: GET_TEMP GPU0"
//
// A line begins with "-> " (the controller says), "<- " (the device says), or "!! " (something is wrong).
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

// Not thread-safe. Everything on the bus is hostile.
class MailboxFollower {
 public:
  // `budget` must outlive it.
  explicit MailboxFollower(StreamFollower::Budget& budget) : stream_(budget) {}

  // Takes one message of a transaction, with the packet error code of the transaction's bytes before it, this message's
  // address included. Marks the message's own code, if it has one, and appends what it means to `notes`. `is_pointer`
  // says that a read of the same device follows in this transaction.
  void Message(WireMessage& message, uint8_t pec_before, bool is_pointer, std::vector<std::string>& notes);

 private:
  using Notes = std::vector<std::string>;

  void Write(WireMessage& message, uint8_t pec_before, bool is_pointer, Notes& notes);
  void WriteRegister(uint8_t code, uint32_t value, Notes& notes);
  void GiveCommand(uint32_t word, Notes& notes);
  void Read(WireMessage& message, uint8_t pec_before, Notes& notes);
  void ReadBlock(ByteSpan block, Notes& notes);
  void ReadRegister(uint8_t code, uint32_t value, Notes& notes);
  // The command's output, as far as it is about a stream.
  void TellStream(bool is_data, uint32_t value);
  void ReadStatus(uint32_t word, Notes& notes);

  std::optional<uint8_t> code_;  // what reads are of; it outlives the STOP
  DataRegisters registers_;
  bool data_is_input_ = false;  // written since the last command, so not its output
  bool extended_data_is_input_ = false;
  std::optional<mailbox::CommandWord> command_;  // the last that was given
  bool has_failed_ = false;                      // it has
  StreamFollower stream_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_MAILBOX_FOLLOWER_H_

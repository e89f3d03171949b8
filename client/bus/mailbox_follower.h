// SPDX-License-Identifier: Apache-2.0
//
// Decodes the mailbox traffic of one device from its bus transactions: the meaning of each message, given the messages
// before it, and the stream that its block windows show. Reads of the data registers are interpreted by the command
// that was last executed.
//   StreamFollower::Budget budget;
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
#include "client/bus/wire.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

// Reassembles the stream that the block windows of one device show, from observed transactions only. Reports the
// stream's header when the stream is complete; the payload is not decoded.
//
//   follower.Command(read_command, {.data = 0, .extended_data = 7});
//   follower.Length(5170);
//   follower.Window(0, bytes).text;   // "bytes 0 to 254 of 5170 of snapshot 7"
//
// Not thread-safe. Devices are hostile: the kept bytes are bounded by the budget.
class StreamFollower {
 public:
  // The number of bytes that all followers sharing the budget may still keep.
  struct Budget {
    size_t bytes_left = mailbox::kStreamBytesMax;
  };
  struct WindowText {
    std::string text;
    std::string completed;  // description of the stream that this window completed; else empty
  };

  // `budget` must outlive the follower.
  explicit StreamFollower(Budget& budget) : budget_(budget) {}
  ~StreamFollower() { Forget(); }
  StreamFollower(const StreamFollower&) = delete;
  StreamFollower& operator=(const StreamFollower&) = delete;

  // A command was executed; `in` is the content of its data registers.
  void Command(const mailbox::CommandWord& command, const DataRegisters& in);
  // The command was refused.
  void Failed() { open_.reset(); }
  // The device has reported the ID of the snapshot that it latched.
  void Latched(uint32_t snapshot_id);
  // The device has reported the open stream's length.
  void Length(uint32_t bytes) { length_ = bytes; }
  // A window was read in a transaction without errors.
  WindowText Window(uint8_t index, ByteSpan bytes);

 private:
  struct Open {
    std::string name;  // description of the content
    std::optional<uint32_t> offset;
    uint32_t window_bytes = mailbox::kWindowBytes;
  };

  void Keep(uint64_t begin, ByteSpan bytes);
  void Forget();
  std::string Completed();

  Budget& budget_;
  std::optional<Open> open_;
  std::optional<uint32_t> length_;
  Bytes kept_;  // the stream's first bytes, without a gap
  bool is_told_ = false;
};

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

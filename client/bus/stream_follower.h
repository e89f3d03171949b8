// SPDX-License-Identifier: Apache-2.0
//
// Which stream the block windows of one device show, and the stream put together from them, as somebody sees it who
// only watches. Its header is told when it is complete; the payload is nobody's business here.
//   StreamFollower::Budget budget;
//   StreamFollower follower(budget);
//   follower.Command(read_command, {.data = 0, .extended_data = 7});
//   follower.Length(5170);
//   follower.Window(0, bytes).text;   // "bytes 0 to 254 of 5170 of snapshot 7"
#ifndef SIDEBAND_CLIENT_BUS_STREAM_FOLLOWER_H_
#define SIDEBAND_CLIENT_BUS_STREAM_FOLLOWER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/bus/command_text.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

// Not thread-safe. Devices are hostile: what is kept is bounded by the budget.
class StreamFollower {
 public:
  // How many bytes may still be kept by all that share it.
  struct Budget {
    size_t bytes_left = mailbox::kStreamBytesMax;
  };
  struct WindowText {
    std::string text;
    std::string completed;  // about the stream that this window was the last of; else empty
  };

  // `budget` must outlive it.
  explicit StreamFollower(Budget& budget) : budget_(budget) {}
  ~StreamFollower() { Forget(); }
  StreamFollower(const StreamFollower&) = delete;
  StreamFollower& operator=(const StreamFollower&) = delete;

  // A command was given; its data registers held `in`.
  void Command(const mailbox::CommandWord& command, const DataRegisters& in);
  // It was refused.
  void Failed() { open_.reset(); }
  // The device has told which snapshot it latched.
  void Latched(uint32_t snapshot_id);
  // The device has told the open stream's length.
  void Length(uint32_t bytes) { length_ = bytes; }
  // A window was read, and nothing was wrong with the transaction.
  WindowText Window(uint8_t index, ByteSpan bytes);

 private:
  struct Open {
    std::string name;  // what it is of
    std::optional<uint32_t> offset;
    uint32_t window_bytes = mailbox::kWindowBytes;
  };

  void Keep(uint64_t begin, ByteSpan bytes);
  void Forget();
  std::string Completed();

  Budget& budget_;
  std::optional<Open> open_;
  std::optional<uint32_t> length_;
  Bytes kept_;  // the stream from its beginning, without a gap
  bool is_told_ = false;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_STREAM_FOLLOWER_H_

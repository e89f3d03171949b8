// SPDX-License-Identifier: Apache-2.0
//
// Reassembles the stream that the block windows of one device show, from observed transactions only. Reports the
// stream's header when the stream is complete; the payload is not decoded.
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

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_STREAM_FOLLOWER_H_

// SPDX-License-Identifier: Apache-2.0
//
// Encodes one snapshot as a frame (format: README.md). A frame contains only the differences to its predecessor. The
// first frame of a chunk contains the differences to zero.
//   CountingSink size;
//   EncodeFrame(nullptr, snapshot, size);    // the length of a first frame, size.size(), without writing it
//   BoundedSink sink(free_bytes);
//   EncodeFrame(&before, snapshot, sink);    // a frame in memory, unless sink.full()
//
//   FrameHeader header;
//   std::vector<uint64_t> values(layout.values());
//   while (DecodeFrame(bytes, header, values)) Use(header, values);
#ifndef SIDEBAND_DAEMON_HISTORY_FRAME_H_
#define SIDEBAND_DAEMON_HISTORY_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/history/tokens.h"
#include "daemon/snapshot/device_snapshot.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

// The fields that occur once per frame. Times are in nanoseconds, host times since 1970. Differences are modulo 2^64,
// so a clock may go back.
struct FrameHeader {
  uint64_t publication = 0;
  uint64_t snapshot_id = 0;
  uint64_t reference_time_ns = 0;
  uint64_t host_time_ns = 0;
  uint64_t host_time_error_ns = 0;
  uint64_t steady_time_ns = 0;  // of the host's steady clock

  static FrameHeader Of(const DeviceSnapshot& snapshot);
  absl::Time host_time() const { return absl::FromUnixNanos(static_cast<int64_t>(host_time_ns)); }
  absl::Duration host_time_error() const { return absl::Nanoseconds(static_cast<int64_t>(host_time_error_ns)); }
  absl::Duration steady_time() const { return absl::Nanoseconds(static_cast<int64_t>(steady_time_ns)); }
  bool operator==(const FrameHeader&) const = default;
};

// Combines a row's state and flags in one number.
inline uint64_t StatusOf(const mailbox::BlockHeader& block) {
  return static_cast<uint64_t>(block.flags) << 2 | static_cast<uint64_t>(block.state);
}
inline mailbox::BlockState StateOfStatus(uint64_t status) { return static_cast<mailbox::BlockState>(status & 3); }
inline uint16_t FlagsOfStatus(uint64_t status) { return static_cast<uint16_t>(status >> 2); }

// `before` is the previous snapshot in the chunk, of the same layout, or nullptr for a chunk's first frame.
// Instantiated for CountingSink and BoundedSink.
template <typename Sink>
void EncodeFrame(const DeviceSnapshot* before, const DeviceSnapshot& now, Sink& sink);

// Encodes a frame from precomputed differences, in the order of the format.
void EncodeDifferences(const FrameHeader& before, const FrameHeader& now, std::span<const uint64_t> differences,
                       GrowingSink& sink);

// Adds the next frame's differences to `header` and `values` and removes its bytes from `bytes`. Returns false at the
// end and if `bytes` does not start with a frame of values.size() values.
bool DecodeFrame(ByteSpan& bytes, FrameHeader& header, std::span<uint64_t> values);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_FRAME_H_

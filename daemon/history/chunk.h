// SPDX-License-Identifier: Apache-2.0
//
// Snapshots in memory (format: README.md). A frame is one snapshot as the differences to its predecessor; a chunk is a
// sequence of frames of one layout, whose first frame has the differences to zero.
//   CountingSink size;
//   EncodeFrame(nullptr, snapshot, size);    // the length of a first frame, size.size(), without writing it
//   BoundedSink sink(free_bytes);
//   EncodeFrame(&before, snapshot, sink);    // a frame in memory, unless sink.full()
//
//   if (!layout.Describes(snapshot)) StartChunk(Layout::Of(snapshot));
//   ChunkReader reader(view);
//   while (reader.Next()) Use(reader.header().host_time(), reader.Count(row, event));
#ifndef SIDEBAND_DAEMON_HISTORY_CHUNK_H_
#define SIDEBAND_DAEMON_HISTORY_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "daemon/history/tokens.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/topology.h"
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

// The properties that all frames of a chunk share, so that each frame can be encoded relative to its predecessor.
struct Layout {
  struct Row {
    uint16_t vm = 0;
    uint16_t context = 0;
    uint32_t generation = 0;
    bool operator==(const Row&) const = default;
  };

  std::shared_ptr<const Topology> topology;  // shared with snapshots and with other chunks' layouts; its plans: of any
  uint64_t boot_id = 0;
  uint32_t events = 0;
  uint32_t estimates = 0;  // multiplexed events; 0 if all counts are exact
  bool device_scope_withheld = false;
  bool device_row_withheld = false;
  std::vector<Row> rows;  // in the device's order

  static Layout Of(const DeviceSnapshot& snapshot);
  // Returns whether Of(snapshot) equals this layout.
  bool Describes(const DeviceSnapshot& snapshot) const;
  // Layouts whose topologies differ only in plans of counter rotation are equal: frames have nothing of them, and a
  // tenant's plan must not shorten the history of others.
  bool operator==(const Layout& other) const;

  // Number of values in a frame: one status per row, every counter, and what is shown of multiplexed events.
  size_t values() const { return rows.size() * (size_t{1} + events + estimates); }
  bool IsEstimated(size_t event) const { return estimates > 0 && topology->rotation().IsRotated(event); }
  // See DeviceSnapshot::IsShown.
  bool IsShown(size_t row, size_t event) const {
    const bool is_device = rows[row].vm == mailbox::kHypervisorVm && rows[row].context == mailbox::kNoContext;
    return !(is_device && device_row_withheld) && topology->IsShown(rows[row].vm, event, device_scope_withheld);
  }
};

// Memory for frames. Bytes are only appended, so a reader may read the bytes covered by its view without a lock.
struct Chunk {
  Chunk(Layout layout, size_t capacity)
      : layout(std::move(layout)), capacity(capacity), bytes(std::make_unique<uint8_t[]>(capacity)) {}

  const Layout layout;
  const size_t capacity;
  const std::unique_ptr<uint8_t[]> bytes;
};

// The content of a chunk at one moment. Cheap to copy.
struct ChunkView {
  std::shared_ptr<const Chunk> chunk;  // shared by the history and its readers
  size_t size = 0;                     // bytes written
  uint32_t frames = 0;
  uint32_t every = 1;     // the tier's divisor; frames of other publications are final ones
  bool is_final = false;  // the last frame is the last of its layout: counters may end with it
  absl::Time first = absl::InfiniteFuture();
  absl::Time last = absl::InfinitePast();
  uint64_t first_publication = 0;  // of its frames
  uint64_t last_publication = 0;
  absl::Duration last_steady;  // when the last frame was latched

  const Layout& layout() const { return chunk->layout; }
  ByteSpan written() const { return {chunk->bytes.get(), size}; }
  // Whether the chunk has the frame of every publication from its first to its last.
  bool IsComplete() const { return frames > 0 && last_publication - first_publication + 1 == frames; }
  // Extends the view by one frame.
  void Add(const FrameHeader& frame, size_t new_size);
  // Memory used by a chunk, without its topology.
  static size_t Footprint(size_t rows, size_t capacity);
  size_t footprint() const { return Footprint(chunk->layout.rows.size(), chunk->capacity); }
};

// Decodes one frame at a time. Not thread-safe.
class ChunkReader {
 public:
  explicit ChunkReader(ChunkView view);

  // Advances to the next frame; the first call advances to the first one. Returns false at the end.
  bool Next();
  bool is_last() const { return read_ == view_.frames; }

  const ChunkView& view() const { return view_; }
  // Header and values of the current frame.
  const FrameHeader& header() const { return header_; }
  uint64_t Status(size_t row) const { return values_[row]; }
  // The count of the current frame.
  uint64_t Count(size_t row, size_t event) const { return values_[(1 + event) * rows_ + row]; }
  // The shown value: the same but for multiplexed events (Layout::IsEstimated). nullopt: no number of those.
  std::optional<uint64_t> Shown(size_t row, size_t event) const;

 private:
  const ChunkView view_;
  const size_t rows_;
  ByteSpan left_;
  uint32_t read_ = 0;
  FrameHeader header_;
  std::vector<uint64_t> values_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_CHUNK_H_

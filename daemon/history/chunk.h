// SPDX-License-Identifier: Apache-2.0
//
// Frames of one layout, one after the other, the first of them complete by itself.
//   ChunkReader reader(view);
//   while (reader.Next()) Use(reader.header().host_time(), reader.Count(row, event));
#ifndef SIDEBAND_DAEMON_HISTORY_CHUNK_H_
#define SIDEBAND_DAEMON_HISTORY_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "daemon/history/frame.h"
#include "daemon/history/layout.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

// Memory for frames. Bytes are only ever appended, so that who knows of some of them may read those without a lock.
struct Chunk {
  Chunk(Layout layout, size_t capacity)
      : layout(std::move(layout)), capacity(capacity), bytes(std::make_unique<uint8_t[]>(capacity)) {}

  const Layout layout;
  const size_t capacity;
  const std::unique_ptr<uint8_t[]> bytes;
};

// What is in a chunk at one moment; a copy is a few words.
struct ChunkView {
  std::shared_ptr<const Chunk> chunk;  // shared by the history and its readers
  size_t size = 0;                     // bytes that are written
  uint32_t frames = 0;
  uint32_t every = 1;     // frames whose publication is no multiple of this are there for another reason
  bool is_final = false;  // the last frame is the last of its layout: counters may end with it
  absl::Time first = absl::InfiniteFuture();
  absl::Time last = absl::InfinitePast();

  const Layout& layout() const { return chunk->layout; }
  ByteSpan written() const { return {chunk->bytes.get(), size}; }
  // Widens the view by a frame.
  void Add(absl::Time time, size_t new_size);
  // What a chunk takes in memory, except for its topology.
  static size_t Footprint(size_t rows, size_t capacity);
  size_t footprint() const { return Footprint(chunk->layout.rows.size(), chunk->capacity); }
};

// Holds the one decoded copy of a frame. Not thread-safe.
class ChunkReader {
 public:
  explicit ChunkReader(ChunkView view);

  // To the next frame, at first the first; false at the end.
  bool Next();
  bool is_last() const { return read_ == view_.frames; }

  const ChunkView& view() const { return view_; }
  // Of the frame at which it stands.
  const FrameHeader& header() const { return header_; }
  uint64_t Status(size_t row) const { return values_[row]; }
  uint64_t Count(size_t row, size_t event) const { return values_[(1 + event) * rows_ + row]; }

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

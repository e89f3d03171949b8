// SPDX-License-Identifier: Apache-2.0
//
// A sequence of frames of one layout. The first frame is complete; every other one is relative to its predecessor.
//   SensorChunkReader reader(view);
//   while (reader.Next()) Show(reader.frame().time(), reader.frame().Value(0));
#ifndef SIDEBAND_DAEMON_SENSOR_HISTORY_SENSOR_CHUNK_H_
#define SIDEBAND_DAEMON_SENSOR_HISTORY_SENSOR_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "daemon/sensor_history/sensor_frame.h"
#include "daemon/sensor_history/sensor_series.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

// Memory for frames. Bytes are only appended, so a reader may read the bytes covered by its view without a lock.
struct SensorChunk {
  SensorChunk(std::shared_ptr<const SensorLayout> layout, size_t capacity)
      : layout(std::move(layout)), capacity(capacity), bytes(std::make_unique<uint8_t[]>(capacity)) {}

  const std::shared_ptr<const SensorLayout> layout;  // shared with other chunks, also of other devices
  const size_t capacity;
  const std::unique_ptr<uint8_t[]> bytes;
};

// The content of a chunk at one moment. Cheap to copy.
struct SensorChunkView {
  std::shared_ptr<const SensorChunk> chunk;  // shared by the history and its readers
  size_t size = 0;                           // bytes written
  uint32_t frames = 0;
  uint64_t newest = 0;  // the last frame's place among all that the history has recorded
  absl::Time first = absl::InfiniteFuture();
  absl::Time last = absl::InfinitePast();

  const SensorLayout& layout() const { return *chunk->layout; }
  ByteSpan written() const { return {chunk->bytes.get(), size}; }
  // Extends the view by one frame.
  void Add(absl::Time time, size_t new_size, uint64_t place);
  // Memory used by a chunk, without its layout.
  static size_t Footprint(size_t capacity);
  size_t footprint() const { return Footprint(chunk->capacity); }
};

// Decodes one frame at a time. Not thread-safe.
class SensorChunkReader {
 public:
  explicit SensorChunkReader(SensorChunkView view);

  // Advances to the next frame; the first call advances to the first one. Returns false at the end.
  bool Next();
  const SensorFrame& frame() const { return frame_; }

 private:
  const SensorChunkView view_;
  ByteSpan left_;
  uint32_t read_ = 0;
  SensorFrame frame_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSOR_HISTORY_SENSOR_CHUNK_H_

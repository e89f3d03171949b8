// SPDX-License-Identifier: Apache-2.0
//
// The values of a layout's sensors at one reading of their group, encoded as the differences to the reading before
// (format: sensor_history.md), and chunks of such frames. The first frame of a chunk is complete.
//   const auto now = SensorFrame::Of(layout, samples, time, before);
//   if (now) now->Encode(before, sink);           // nullopt if the layout lacks one of the sensors
//   SensorFrame frame(layout.series.size());
//   while (frame.Decode(bytes)) Show(frame.time(), frame.Value(0));
//   SensorChunkReader reader(view);
//   while (reader.Next()) Show(reader.frame().time(), reader.frame().Value(0));
#ifndef SIDEBAND_DAEMON_HISTORY_SENSOR_FRAME_H_
#define SIDEBAND_DAEMON_HISTORY_SENSOR_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "daemon/history/sensor_sample.h"
#include "daemon/history/tokens.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

class SensorFrame {
 public:
  // The frame to which the first of a chunk is relative: nothing has a value, at 1970.
  explicit SensorFrame(size_t series = 0) : series_(series), numbers_(kNumbersPerSeries * series) {}

  // `samples` are in the order of SamplesOf(). `before` is a frame of the same layout: what has no value now keeps its
  // numbers, so that its absence is one difference.
  static std::optional<SensorFrame> Of(const SensorLayout& layout, std::span<const SensorSample> samples,
                                       absl::Time time, const SensorFrame& before);
  // Memory of a frame's numbers, in bytes.
  static size_t Footprint(size_t series) { return kNumbersPerSeries * series * sizeof(uint64_t); }

  absl::Time time() const { return absl::FromUnixNanos(static_cast<int64_t>(time_ns_)); }
  SensorValue Value(size_t series) const;

  // `before` is a frame of the same layout.
  template <typename Sink>
  void Encode(const SensorFrame& before, Sink& sink) const;
  // Adds the differences of the next frame, and removes its bytes from `bytes`. False at the end, and if `bytes` does
  // not start with a frame of so many series.
  bool Decode(ByteSpan& bytes);

 private:
  static constexpr size_t kNumbersPerSeries = 3;
  void Set(size_t series, const SensorValue& value);

  size_t series_;
  uint64_t time_ns_ = 0;  // since 1970
  // The forms of all series, then when they were created, then their words: what seldom changes is one run.
  std::vector<uint64_t> numbers_;
};

template <typename Sink>
void SensorFrame::Encode(const SensorFrame& before, Sink& sink) const {
  sink.Varint(ZigZag(time_ns_ - before.time_ns_));
  TokenWriter tokens(sink);
  for (size_t i = 0; i < numbers_.size(); ++i) tokens.Add(numbers_[i] - before.numbers_[i]);
  tokens.EndRun();
}

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

#endif  // SIDEBAND_DAEMON_HISTORY_SENSOR_FRAME_H_

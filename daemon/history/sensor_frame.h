// SPDX-License-Identifier: Apache-2.0
//
// The samples of a group in a board's reading, and the sensors that they are of; the frames of one layout's sensors,
// encoded as the differences to the reading before (format: sensor_history.md); and chunks of such frames, of which the
// first is complete.
//   for (const SensorSample& sample : SamplesOf(reading, BoardGroup::kPower)) {
//     Show(sample.series.family->name, GaugeOf(sample.value));
//   }
//   const auto now = SensorFrame::Of(layout, samples, time, before);
//   if (now) now->Encode(before, sink);           // nullopt if the layout lacks one of the sensors
//   SensorChunkReader reader(view);
//   while (reader.Next()) Show(reader.frame().time(), reader.frame().Value(0));
#ifndef SIDEBAND_DAEMON_HISTORY_SENSOR_FRAME_H_
#define SIDEBAND_DAEMON_HISTORY_SENSOR_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/sensor_families.h"
#include "daemon/history/tokens.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

struct SensorSeries {
  const SensorFamily* family = nullptr;  // one of SensorFamilies()
  // Beside the device, as front ends have them.
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<uint8_t> partition;  // whose it is; nullopt: the board's
  // A counter's counts are of so many parts of the family's unit, 1 or 1000. 0: a gauge.
  uint32_t count_per_unit = 0;

  bool is_counter() const { return count_per_unit != 0; }
  bool operator==(const SensorSeries&) const = default;
};

// The sensors that the frames of a chunk are about. A layout is immutable, and shared by all chunks of all devices with
// the same sensors, such as those of one model.
struct SensorLayout {
  BoardGroup group = BoardGroup::kCapabilities;
  std::vector<SensorSeries> series;

  bool operator==(const SensorLayout&) const = default;
  // Memory used, in bytes; rather too much than too little.
  size_t Footprint() const;
};

// The meaning of a value's word.
enum class ValueForm : uint8_t {
  kAbsent,   // the sensor has no value
  kInteger,  // a count, or a gauge in units of 1/128,000
  kDouble,   // the bits of any other gauge
};

// Three numbers that change little from one reading to the next.
struct SensorValue {
  ValueForm form = ValueForm::kAbsent;
  uint64_t word = 0;
  uint64_t created_ns = 0;  // of a counter: when it began, since 1970; else 0

  bool operator==(const SensorValue&) const = default;
};

// Exact for every number. What boards report by SMBPBI are multiples of 1/1000 and 1/256, and 1/25,600 where they are
// shares: their values in units of 1/128,000 are whole, and differ by little.
SensorValue ValueOfGauge(double gauge);
// The gauge of a value that is neither absent nor a counter's.
double GaugeOf(const SensorValue& value);

struct SensorSample {
  SensorSeries series;
  SensorValue value;
};

// Returns the samples that have a value, of the whole board, in an order that depends on the series alone. Each series
// of the group is among them once at most. The ages of groups are left out (kSampleAges). Thread-safe.
std::vector<SensorSample> SamplesOf(const BoardReading& reading, BoardGroup group);

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

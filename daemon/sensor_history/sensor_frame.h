// SPDX-License-Identifier: Apache-2.0
//
// The values of a layout's sensors at one reading of their group, encoded as the differences to the reading before
// (format: README.md).
//   const auto now = SensorFrame::Of(layout, samples, time, before);
//   if (now) now->Encode(before, sink);           // nullopt if the layout lacks one of the sensors
//
//   SensorFrame frame(layout.series.size());
//   while (frame.Decode(bytes)) Show(frame.time(), frame.Value(0));
#ifndef SIDEBAND_DAEMON_SENSOR_HISTORY_SENSOR_FRAME_H_
#define SIDEBAND_DAEMON_SENSOR_HISTORY_SENSOR_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "daemon/history/tokens.h"
#include "daemon/sensor_history/sensor_sample.h"
#include "daemon/sensor_history/sensor_series.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

class SensorFrame {
 public:
  // What the first frame of a chunk is relative to: nothing has a value, at 1970.
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSOR_HISTORY_SENSOR_FRAME_H_

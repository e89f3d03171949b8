// SPDX-License-Identifier: Apache-2.0
//
// Boards' sensors in a stream of samples. Their history is not replayed: what a reader misses is a gap.
//   SensorSamples sensors(request, queries);
//   sensors.BeginRound();
//   while (auto message = sensors.NextOfRound(sight)) Send(*message);
#ifndef SIDEBAND_DAEMON_STREAM_SENSOR_SAMPLES_H_
#define SIDEBAND_DAEMON_STREAM_SENSOR_SAMPLES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/stream/sample_pacer.h"
#include "daemon/stream/stream_content.h"
#include "daemon/stream/stream_request.h"
#include "daemon/view/sensor_queries.h"

namespace sideband::daemon {

// Not thread-safe. The queries must outlive it.
class SensorSamples {
 public:
  using Message = StreamContent::Message;

  // There are none unless the request asks for sensors, and without queries (nullptr).
  SensorSamples(const StreamRequest& request, const SensorQueries* queries)
      : filter_(request.filter),
        sample_interval_(request.sample_interval),
        queries_(request.sensors ? queries : nullptr) {}

  // Adds a gap for each board of which a sample may have been missed.
  void Resume(const StreamPosition& position, const StreamSight& sight, std::vector<Message>& messages);
  void BeginRound() { ++round_; }
  std::optional<Message> NextOfRound(const StreamSight& sight);
  std::optional<Message> NextNews(const StreamSight& sight);
  void AddPosition(DevicePosition& position) const;

 private:
  struct Sent {
    explicit Sent(absl::Duration interval) : pacer(interval) {}

    SamplePacer pacer;  // its publications are the samples' steady times
    absl::Time time = absl::UnixEpoch();
    uint64_t round = 0;
  };

  Sent& SentOf(const VisibleDevice& device);
  // The reader has the board's newest sample.
  void Remember(const VisibleBoard& board, const StreamSight& sight);
  template <typename IsWanted>
  std::optional<Message> Next(const StreamSight& sight, IsWanted is_wanted);

  const RowFilter filter_;
  const absl::Duration sample_interval_;
  const SensorQueries* const queries_;
  uint64_t round_ = 0;
  std::map<std::string, Sent> sent_;  // by device
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_SENSOR_SAMPLES_H_

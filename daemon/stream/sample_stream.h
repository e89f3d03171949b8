// SPDX-License-Identifier: Apache-2.0
//
// The content of a stream in STREAM_MODE_SAMPLE: the newest snapshots, then updates. It holds no queue: a slow reader
// receives the newest snapshot and the number of skipped ones; of what a resumption covers, one at a time from the
// history.
//   SampleStream samples(request, {.reader = reader, .bodies = bodies, .history = &history});
//   samples.BeginRound();
//   while (auto message = samples.NextOfRound(sight)) Send(*message);
#ifndef SIDEBAND_DAEMON_STREAM_SAMPLE_STREAM_H_
#define SIDEBAND_DAEMON_STREAM_SAMPLE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/stream/redundancy.h"
#include "daemon/stream/sample_pacer.h"
#include "daemon/stream/sensor_samples.h"
#include "daemon/stream/stream_content.h"
#include "daemon/stream/stream_request.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/replay.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_bodies.h"

namespace sideband::daemon {

// Not thread-safe. The sources must outlive it.
class SampleStream final : public StreamContent {
 public:
  struct Sources {
    Reader& reader;
    SnapshotBodies& bodies;
    const HistoryReader* history = nullptr;  // nullptr: there is none
    const SensorQueries* sensors = nullptr;  // nullptr: no board is read
  };
  // The numbers that one step decodes, of all devices: some milliseconds of work.
  static constexpr size_t kValuesPerStep = 1'000'000;

  SampleStream(const StreamRequest& request, const Sources& sources)
      : request_(request), sources_(sources), sensors_(request, sources.sensors) {}

  std::vector<Message> Resume(const StreamPosition& position, const StreamSight& sight) override;
  void BeginRound() override;
  std::optional<Message> NextOfRound(const StreamSight& sight) override;
  bool IsRoundDone(const StreamSight& sight) const override;
  std::optional<Message> NextNews(const StreamSight& sight) override;
  bool IsReplaying(const StreamSight& sight) const override;
  void AddPosition(const StreamSight& sight, StreamPosition& position) const override;

 private:
  // What has been sent of a device.
  struct Cursor {
    explicit Cursor(absl::Duration sample_interval) : pacer(sample_interval) {}
    // As if nothing had been sent.
    void Restart(absl::Duration sample_interval);

    SamplePacer pacer;
    uint64_t boot_id = 0;                         // of the last update; 0: none yet
    absl::Time host_time = absl::InfinitePast();  // likewise
    RowDigests rows;                              // likewise, with suppress_redundant
    std::optional<Replay> replay;                 // of what was missed
    std::string name;                             // the device's, with a replay
    uint64_t had = 0;                             // the publication whose rows the replay begins with, as known
    uint64_t round = 0;                           // the last one that it is part of
    uint64_t news_round = 0;                      // the last heartbeat that began with its news
  };
  // The device that is replayed. One at a time has a decoded frame. What is published during a leg is another leg, as
  // long as they become shorter: a reader that keeps up misses nothing, and one that does not is live at the end.
  struct Replaying {
    size_t device = 0;
    uint64_t leg_end = 0;  // the newest publication when the leg began
    uint64_t leg = 0;      // publications
  };

  bool Shows(const VisibleDevice& device) const {
    return device.snapshot != nullptr && request_.filter.SelectsDevice(device);
  }
  Cursor& CursorOf(const VisibleDevice& device);
  const Cursor* FindCursor(const VisibleDevice& device) const;
  Replay ReplayAfter(size_t device, uint64_t publication) const;
  // The first message of `next`, of the devices in turn, beginning after the one that was sent last.
  template <typename Next>
  std::optional<Message> InTurn(const StreamSight& sight, Next next);

  std::optional<Message> NextOfDevices(const StreamSight& sight);
  // The next message of the device. Without one, the work of this step is done if the cursor still has a replay.
  std::optional<Message> NewsOf(const VisibleDevice& device, DecodeBudget& budget, const StreamSight& sight);
  std::optional<Message> Replayed(const VisibleDevice& device, Cursor& cursor, DecodeBudget& budget,
                                  const StreamSight& sight);
  std::optional<Message> ReplayedMessage(const VisibleDevice& device, Cursor& cursor, const Caller& caller);
  // Whether a leg goes on or another one begins.
  bool IsInLeg(const VisibleDevice& device, const Replay& replay);
  void EndReplay(Cursor& cursor);
  // Ends the replay of a device that the caller no longer sees.
  std::optional<Message> GapOfUnseen(const StreamSight& sight);
  std::optional<Message> Newest(const VisibleDevice& device);
  // All scopes of the newest snapshot: what is new of it first, and without suppress_redundant that alone.
  std::optional<Message> Heartbeat(const VisibleDevice& device);
  sideband::v1::Snapshot UpdateOf(const VisibleDevice& device) const;
  // With suppress_redundant, removes what has not changed. False where nothing is left to send.
  bool Reduce(Cursor& cursor, sideband::v1::Snapshot& update) const;

  std::vector<std::string> SeenMeanwhile(const StreamPosition& position, const StreamSight& sight) const;
  Message ResumeDevice(const DevicePosition& position, const StreamSight& sight);
  void Restore(const VisibleDevice& device, const DevicePosition& position, Cursor& cursor);

  const StreamRequest request_;
  const Sources sources_;
  SensorSamples sensors_;
  uint64_t round_ = 0;
  std::map<size_t, Cursor> cursors_;  // by the device's id
  std::optional<Replaying> replaying_;
  size_t turn_ = 0;  // the device after the last one sent: round robin
  bool is_sensors_turn_ = true;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_SAMPLE_STREAM_H_

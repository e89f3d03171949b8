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
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/stream/stream_content.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/replay.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_message.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Selects the publications of one device for a stream with a sample interval.
// Selects the publication latched nearest to each multiple of the sample interval since the first one. Latch times
// decide, so the selection does not drift and needs no timer. Not thread-safe.
class SamplePacer {
 public:
  explicit SamplePacer(absl::Duration sample_interval) : sample_interval_(sample_interval) {}
  // One that has taken `taken` before, and goes on as that one would.
  SamplePacer(absl::Duration sample_interval, uint64_t taken, absl::Duration due)
      : sample_interval_(sample_interval), taken_(taken), due_(due) {}

  bool has_taken() const { return taken_ != 0; }
  uint64_t taken() const { return taken_; }
  absl::Duration due() const { return due_; }

  // The steady time before which no publication is due. Every newer snapshot is due where the sample interval does not
  // exceed `device_interval`, which a reload may change.
  absl::Duration Earliest(absl::Duration device_interval) const;
  // Whether the publication is newer than the last one taken, and due.
  bool Wants(uint64_t publication, absl::Duration steady_time, absl::Duration device_interval) const;
  bool Wants(const DeviceSnapshot& snapshot, absl::Duration device_interval) const {
    return Wants(snapshot.publication, snapshot.steady_time, device_interval);
  }
  // Takes the publication. Returns the number of publications skipped since the last one taken; 0 for the first.
  uint64_t Take(uint64_t publication, absl::Duration steady_time);
  uint64_t Take(const DeviceSnapshot& snapshot) { return Take(snapshot.publication, snapshot.steady_time); }

 private:
  absl::Duration sample_interval_;
  uint64_t taken_ = 0;  // publication number; 0: none yet
  absl::Duration due_;  // steady time of the next sample
};

// SubscribeRequest.suppress_redundant: which scopes of an update have changed since the last one. It holds a number for
// each scope in place of the last update.

// The digests of an update's scopes, in their order: one of the scope itself and one of its counts, state and flags.
// They are equal for equal content, in one run of the daemon, and for different content by chance, once in 2^64.
struct RowDigest {
  uint64_t scope = 0;
  uint64_t content = 0;
  bool operator==(const RowDigest&) const = default;
};
using RowDigests = std::vector<RowDigest>;

RowDigests DigestsOf(const sideband::v1::Snapshot& update);

// Removes the scopes of `update`, whose digests are `now`, that `before` has with the same content.
void RemoveUnchanged(const RowDigests& before, const RowDigests& now, sideband::v1::Snapshot& update);

// Boards' sensors in a stream of samples. Their history is not replayed: what a reader misses is a gap.
//
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
  // The part of a device's data that has been sent.
  struct Cursor {
    explicit Cursor(absl::Duration sample_interval) : pacer(sample_interval) {}
    // Forgets all that was sent.
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
  // The device starts again after a gap.
  Message GiveUpReplay(const VisibleDevice& device, Cursor& cursor, sideband::v1::Gap::Reason reason,
                       const StreamSight& sight);
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

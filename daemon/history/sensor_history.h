// SPDX-License-Identifier: Apache-2.0
//
// The past of boards' sensors, in bounded memory: for each reading of a group, the values of its sensors. Format:
// sensor_history.md.
//   SensorHistory history({.max_bytes = 2 << 20});
//   boards.AddListener(history);
//   for (const SensorChunkView& view : history.Chunks(device)) {
//     for (SensorChunkReader reader(view); reader.Next();) Show(reader.frame().time(), reader.frame().Value(0));
//   }
//   boards.RemoveListener(history);
#ifndef SIDEBAND_DAEMON_HISTORY_SENSOR_HISTORY_H_
#define SIDEBAND_DAEMON_HISTORY_SENSOR_HISTORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/board_store.h"
#include "daemon/history/sensor_frame.h"

namespace sideband::daemon {

// Thread-safe. Readers copy pointers under the lock and decode without it.
class SensorHistory final : public BoardListener {
 public:
  struct Options {
    // Bounds everything that is held: frames, memory reserved for further frames, and layouts. The end of a chunk
    // temporarily needs the chunk once more. 0: no history is kept.
    size_t max_bytes = 2 << 20;
  };
  // A query decodes whole chunks, so chunks are bounded even if frames are small.
  static constexpr uint32_t kFramesPerChunkMax = 512;

  // `options.max_bytes` as SetMaxBytes().
  explicit SensorHistory(Options options) : max_bytes_(options.max_bytes) {}

  // Changes the bound; drops the oldest chunks if necessary.
  void SetMaxBytes(size_t max_bytes) ABSL_LOCKS_EXCLUDED(mu_);
  // Drops the device's history. What is published after that begins another one.
  void Remove(size_t device) ABSL_LOCKS_EXCLUDED(mu_);

  // Closes all chunks, so that none has frames from both before and after this call. Returns the place of the last
  // frame so far: SensorChunkView::newest of all later chunks is greater.
  uint64_t Cut() ABSL_LOCKS_EXCLUDED(mu_);

  // Records the groups whose time differs from that of the last reading; of other groups nothing has been read.
  // Readings of a device must come from one thread at a time.
  void OnPublish(size_t device, const std::shared_ptr<const BoardReading>& reading) override ABSL_LOCKS_EXCLUDED(mu_);

  // Returns all chunks of the device, group by group, those of a group oldest first. A chunk lives as long as a caller
  // holds it, even beyond the bound.
  std::vector<SensorChunkView> Chunks(size_t device) const ABSL_LOCKS_EXCLUDED(mu_);

  size_t bytes() const ABSL_LOCKS_EXCLUDED(mu_);
  size_t max_bytes() const ABSL_LOCKS_EXCLUDED(mu_);
  // The time from the device's oldest frame to its newest.
  absl::Duration Span(size_t device) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Group {
    std::vector<SensorChunkView> chunks;                  // oldest first
    std::shared_ptr<SensorChunk> open;                    // the last one while it accepts frames; otherwise nullptr
    SensorFrame last;                                     // of `open`
    absl::Duration recorded = -absl::InfiniteDuration();  // the steady time of the last reading
  };
  struct Device {
    std::array<Group, kBoardGroupCount> groups;
    size_t bytes = 0;  // without layouts
  };
  using Samples = std::span<const SensorSample>;

  // Creates the device's state if necessary; nullptr if there is no room for it.
  Device* Of(size_t device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Clear() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Record(Device& device, const BoardReading& reading, BoardGroup group, const BoardTime& time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // False if there is no open chunk, or if it lacks one of the sensors, or room.
  bool AppendToOpen(Group& group, Samples samples, absl::Time time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StartChunk(Device& device, BoardGroup group, Samples samples, absl::Time time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Closes the open chunk and releases its spare memory.
  void Close(Device& device, Group& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // All additions and removals of chunks go through Add() and Take(), which keep the accounting.
  void Add(Device& device, Group& group, SensorChunkView view) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  SensorChunkView Take(Device& device, Group& group, bool newest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Account(Device& device, size_t bytes, bool add) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Frees memory, from the devices with the most, for a chunk of `footprint` bytes. Returns whether `device` may have
  // it.
  bool MakeRoom(Device& device, const SensorLayout& layout, size_t footprint) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The device with the most memory, of which there is one; `wanted` is added to that of `wanting`.
  Device& Largest(const Device* wanting, size_t wanted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Drops the chunk whose newest frame is the device's oldest. Returns false if the device has no chunks.
  bool Shrink(Device& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // An equal layout that is in use, else a new one.
  std::shared_ptr<const SensorLayout> LayoutOf(BoardGroup group, Samples samples) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // The capacity of a chunk whose first frame has so many bytes.
  size_t CapacityOf(size_t first) const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  size_t max_bytes_ ABSL_GUARDED_BY(mu_);
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t frames_ ABSL_GUARDED_BY(mu_) = 0;               // recorded so far
  std::map<size_t, Device> devices_ ABSL_GUARDED_BY(mu_);  // by id; references stay valid when others are erased
  // The layouts in use, with the number of their chunks.
  absl::flat_hash_map<std::shared_ptr<const SensorLayout>, size_t> layouts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_SENSOR_HISTORY_H_

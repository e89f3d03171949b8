// SPDX-License-Identifier: Apache-2.0
//
// Past publications, in bounded memory for the whole daemon. The recent past is complete; the older past has every 10th
// snapshot, then every 60th; still older snapshots are dropped. Format: README.md.
//   History history({.max_bytes = 16 << 20});
//   store.AddListener(history);
//   for (const ChunkView& view : history.Chunks(0)) {            // oldest first
//     for (ChunkReader reader(view); reader.Next();) Use(reader.header(), reader.Count(row, event));
//   }
#ifndef SIDEBAND_DAEMON_HISTORY_HISTORY_H_
#define SIDEBAND_DAEMON_HISTORY_HISTORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/history/chunk.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"

namespace sideband::daemon {

// Thread-safe. Readers copy pointers under the lock and decode without it.
class History final : public PublicationListener {
 public:
  struct Options {
    // Bounds everything that is held: frames, memory reserved for further frames, and topologies. Thinning temporarily
    // needs one decoded frame and one chunk more. 0: no history is kept.
    size_t max_bytes = 16 << 20;
  };
  // Resolution of a part of a device's history, and its share of the device's memory.
  struct Tier {
    uint32_t every;
    uint32_t share;
  };
  static constexpr std::array<Tier, 3> kTiers = {{{1, 2}, {10, 1}, {60, 1}}};
  // A query decodes whole chunks, so chunks are bounded even if frames are small.
  static constexpr uint32_t kFramesPerChunkMax = 512;

  // Reserves memory accounting for `devices` devices with the ids from 0 before their first publication.
  explicit History(Options options, size_t devices = 0);

  // Changes the bound; shrinks the history if necessary.
  void SetMaxBytes(size_t max_bytes) ABSL_LOCKS_EXCLUDED(mu_);
  // Drops the device's history. Nothing more may be published for this device.
  void Remove(size_t device) ABSL_LOCKS_EXCLUDED(mu_);

  // Publication numbers of a device must increase, and must come from one thread at a time.
  void OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) override
      ABSL_LOCKS_EXCLUDED(mu_);

  // Returns all chunks of the device, oldest first. A chunk lives as long as a caller holds it, even beyond the bound.
  std::vector<ChunkView> Chunks(size_t device) const ABSL_LOCKS_EXCLUDED(mu_);

  // Returns the chunk of full resolution that spans the publication; nullopt if the device's history does not go back
  // so far in full. The publication's own frame is missing if there was no room for it.
  std::optional<ChunkView> ChunkWith(size_t device, uint64_t publication) const ABSL_LOCKS_EXCLUDED(mu_);

  size_t bytes() const ABSL_LOCKS_EXCLUDED(mu_);
  size_t max_bytes() const ABSL_LOCKS_EXCLUDED(mu_);
  // The time from the device's oldest frame to its newest.
  absl::Duration Span(size_t device) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Device {
    std::array<std::vector<ChunkView>, kTiers.size()> tiers;
    std::array<size_t, kTiers.size()> tier_bytes{};
    size_t bytes = 0;  // tiers and topologies
    // The last chunk of the first tier while it accepts frames; otherwise nullptr.
    std::shared_ptr<Chunk> open;
    std::shared_ptr<const DeviceSnapshot> last;               // shared with the store, where it is the newest
    absl::flat_hash_map<const Topology*, size_t> topologies;  // number of chunks that use each topology
  };

  bool AppendToOpen(Device& device, const DeviceSnapshot& snapshot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StartChunk(Device& device, const DeviceSnapshot& snapshot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Closes the open chunk and releases its spare memory.
  void Close(Device& device, bool is_final) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // All additions and removals of chunks go through Add() and Take(), which keep the accounting.
  void Add(Device& device, size_t tier, ChunkView view) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  ChunkView Take(Device& device, size_t tier, bool newest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Account(Device& device, size_t tier, const ChunkView& view, bool add) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Frees memory, from the devices with the most, for a chunk of `footprint` bytes. Returns whether `device` may have
  // it.
  bool MakeRoom(Device& device, const Topology& topology, size_t footprint) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the device with the most memory; `wanted` is added to that of `wanting`.
  Device& Largest(const Device& wanting, size_t wanted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Thins the oldest chunk of a tier, or drops the device's oldest chunk. Returns false if the device has no chunks.
  bool Shrink(Device& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ThinOldest(Device& device, size_t tier) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // The usual size of a chunk; chunks with large frames are larger.
  size_t ChunkBytes() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Returns the device's state; creates it if necessary.
  Device& Of(size_t device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  size_t max_bytes_ ABSL_GUARDED_BY(mu_);
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<size_t, Device> devices_ ABSL_GUARDED_BY(mu_);  // by id; references stay valid when others are erased
};

// The memory used by a topology in bytes, for accounting against a bound: too high rather than too low.
size_t Footprint(const Topology& topology);

// Reduces the resolution of a chunk. Counters are cumulative, so dropping frames loses resolution and no counts.
//
// Returns `tail` extended by the frames of `source` whose publication is a multiple of `every`. If `source` is final,
// its last frame is included, too, since it has the final counts. `tail` is a chunk of the same layout, or nullptr.
// nullopt if the result has no frames. Needs one decoded frame of memory.
std::optional<ChunkView> Thin(const ChunkView* tail, const ChunkView& source, uint32_t every);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_HISTORY_H_

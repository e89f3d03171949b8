// SPDX-License-Identifier: Apache-2.0
//
// What was published in the past, in one bounded part of memory for the whole daemon. The newest time is complete,
// older time has every 10th snapshot, then every 60th; what is older still is gone. README.md has the format.
//   History history({.max_bytes = 16 << 20}, store.devices().size());
//   store.AddListener(history);
//   for (const ChunkView& view : history.Chunks(0)) {            // oldest first
//     for (ChunkReader reader(view); reader.Next();) Use(reader.header(), reader.Count(row, event));
//   }
#ifndef SIDEBAND_DAEMON_HISTORY_HISTORY_H_
#define SIDEBAND_DAEMON_HISTORY_HISTORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/history/chunk.h"
#include "daemon/store/store.h"

namespace sideband::daemon {

// Thread-safe. Whoever reads takes pointers under a lock and decodes without it.
class History final : public PublicationListener {
 public:
  struct Options {
    // Of everything that is held: frames, memory reserved for the next ones, and topologies. What thinning works with,
    // one decoded frame and one chunk, comes on top while it lasts.
    size_t max_bytes = 16 << 20;
  };
  // How much of a device's time is kept how finely, with each tier's share of the device's memory.
  struct Tier {
    uint32_t every;
    uint32_t share;
  };
  static constexpr std::array<Tier, 3> kTiers = {{{1, 2}, {10, 1}, {60, 1}}};
  // A query decodes whole chunks, so they must not get long where little happens.
  static constexpr uint32_t kFramesPerChunkMax = 512;

  History(Options options, size_t devices);

  // Publications of a device must grow and come from one thread at a time.
  void OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) override
      ABSL_LOCKS_EXCLUDED(mu_);

  // All there is of the device, oldest first. Chunks live for as long as they are held, beyond the bound where need be.
  std::vector<ChunkView> Chunks(size_t device) const ABSL_LOCKS_EXCLUDED(mu_);

  size_t bytes() const ABSL_LOCKS_EXCLUDED(mu_);
  size_t max_bytes() const { return options_.max_bytes; }
  // From the device's oldest frame to its newest.
  absl::Duration Span(size_t device) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Device {
    std::array<std::vector<ChunkView>, kTiers.size()> tiers;
    std::array<size_t, kTiers.size()> tier_bytes{};
    size_t bytes = 0;  // of the tiers and topologies
    // The last chunk of the first tier, while it may take more frames.
    std::shared_ptr<Chunk> open;
    std::shared_ptr<const DeviceSnapshot> last;               // shared with the store, whose newest it is
    absl::flat_hash_map<const Topology*, size_t> topologies;  // by how many chunks each is used
  };

  bool AppendToOpen(Device& device, const DeviceSnapshot& snapshot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StartChunk(Device& device, const DeviceSnapshot& snapshot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // No more frames for the open chunk, whose spare memory is given back.
  void Close(Device& device, bool is_final) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // The one place where chunks come to a device, and the one where they leave.
  void Add(Device& device, size_t tier, ChunkView view) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  ChunkView Take(Device& device, size_t tier, bool newest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Account(Device& device, size_t tier, const ChunkView& view, bool add) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Whether `device` may have a chunk of so many bytes. Makes room where the most is held.
  bool MakeRoom(Device& device, const Topology& topology, size_t footprint) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of the devices the one that holds the most, `wanting` with what it wants.
  Device& Largest(const Device& wanting, size_t wanted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Thins the oldest chunk of a tier, or drops the device's oldest. False where nothing is there.
  bool Shrink(Device& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ThinOldest(Device& device, size_t tier) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const size_t chunk_bytes_;  // what a chunk has room for, unless its frames are large
  mutable absl::Mutex mu_;
  size_t bytes_ ABSL_GUARDED_BY(mu_);
  std::vector<Device> devices_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_HISTORY_H_

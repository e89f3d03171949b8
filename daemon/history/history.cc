// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/history.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "daemon/history/footprint.h"
#include "daemon/history/frame.h"
#include "daemon/history/thin.h"

namespace sideband::daemon {
namespace {

// Small enough that a device has many chunks, so that little goes at a time; large enough that the first frame of each,
// which is complete, weighs little.
constexpr size_t kChunkBytesMin = 8 << 10;
constexpr size_t kChunkBytesMax = 256 << 10;
constexpr size_t kChunksPerDevice = 64;
// A device of many counters has larger chunks, with room for so many frames of the size of a complete one (differences
// are smaller), as long as that leaves it so many chunks.
constexpr size_t kFramesMin = 4;
constexpr size_t kLargeChunksPerDevice = 8;

size_t ChunkBytes(size_t max_bytes, size_t devices) {
  return std::clamp(max_bytes / (kChunksPerDevice * std::max<size_t>(devices, 1)), kChunkBytesMin, kChunkBytesMax);
}

size_t SizeOfFirst(const DeviceSnapshot& snapshot) {
  CountingSink size;
  EncodeFrame(nullptr, snapshot, size);
  return size.size();
}

}  // namespace

History::History(Options options, size_t devices)
    : options_(options),
      chunk_bytes_(ChunkBytes(options.max_bytes, devices)),
      bytes_(devices * sizeof(Device)),
      devices_(devices) {}

void History::OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) {
  auto last = snapshot;  // freed after the lock: it may be large
  absl::MutexLock lock(&mu_);
  Device& to = devices_.at(device);
  if (!AppendToOpen(to, *snapshot)) StartChunk(to, *snapshot);
  to.last.swap(last);
}

bool History::AppendToOpen(Device& device, const DeviceSnapshot& snapshot) {
  if (device.open == nullptr || !device.open->layout.Describes(snapshot)) return false;
  ChunkView& view = device.tiers[0].back();
  if (view.frames == kFramesPerChunkMax) return false;
  BoundedSink sink({device.open->bytes.get() + view.size, device.open->capacity - view.size});
  EncodeFrame(device.last.get(), snapshot, sink);
  if (sink.full()) return false;
  view.Add(FrameHeader::Of(snapshot).host_time(), view.size + sink.size());
  return true;
}

void History::StartChunk(Device& device, const DeviceSnapshot& snapshot) {
  if (device.open != nullptr) Close(device, /*is_final=*/!device.open->layout.Describes(snapshot));
  const size_t first = SizeOfFirst(snapshot);
  const size_t most = std::max(first, options_.max_bytes / devices_.size() / kLargeChunksPerDevice);
  const size_t capacity = std::clamp(kFramesMin * first, chunk_bytes_, std::max(chunk_bytes_, most));
  const size_t footprint = ChunkView::Footprint(snapshot.data.blocks.size(), capacity);
  if (!MakeRoom(device, *snapshot.topology, footprint)) return;
  const auto chunk = std::make_shared<Chunk>(Layout::Of(snapshot), capacity);
  ChunkView view{.chunk = chunk};
  BoundedSink sink({chunk->bytes.get(), capacity});
  EncodeFrame(nullptr, snapshot, sink);
  view.Add(FrameHeader::Of(snapshot).host_time(), sink.size());
  Add(device, 0, std::move(view));
  device.open = chunk;
}

void History::Close(Device& device, bool is_final) {
  ChunkView view = Take(device, 0, /*newest=*/true);
  const auto closed = std::make_shared<Chunk>(view.layout(), view.size);
  std::copy(view.written().begin(), view.written().end(), closed->bytes.get());
  view.chunk = closed;
  view.is_final = is_final;
  Add(device, 0, std::move(view));
}

void History::Account(Device& device, size_t tier, const ChunkView& view, bool add) {
  size_t bytes = view.footprint();
  const Topology* const topology = view.layout().topology.get();
  size_t& uses = device.topologies[topology];
  const size_t topology_bytes = uses == (add ? 0 : 1) ? Footprint(*topology) : 0;
  add ? ++uses : --uses;
  if (uses == 0) device.topologies.erase(topology);
  const auto move = [add](size_t& total, size_t by) { total = add ? total + by : total - by; };
  move(device.tier_bytes[tier], bytes);
  move(device.bytes, bytes + topology_bytes);
  move(bytes_, bytes + topology_bytes);
}

void History::Add(Device& device, size_t tier, ChunkView view) {
  Account(device, tier, view, /*add=*/true);
  device.tiers[tier].push_back(std::move(view));
}

ChunkView History::Take(Device& device, size_t tier, bool newest) {
  auto& views = device.tiers[tier];
  const auto at = newest ? views.end() - 1 : views.begin();
  ChunkView view = std::move(*at);
  views.erase(at);
  Account(device, tier, view, /*add=*/false);
  if (view.chunk == device.open) device.open = nullptr;
  return view;
}

bool History::MakeRoom(Device& device, const Topology& topology, size_t footprint) {
  bool has_room = true;
  for (;;) {
    const size_t names = device.topologies.contains(&topology) ? 0 : Footprint(topology);
    const size_t wanted = has_room ? footprint + names : 0;
    if (bytes_ + wanted <= options_.max_bytes) return has_room;
    if (Shrink(Largest(device, wanted))) continue;
    if (!has_room) return false;
    has_room = false;  // the device wants more than all others hold: the bound holds without it
  }
}

History::Device& History::Largest(const Device& wanting, size_t wanted) {
  const auto bytes = [&](const Device& device) { return device.bytes + (&device == &wanting ? wanted : 0); };
  return *std::max_element(devices_.begin(), devices_.end(),
                           [&](const Device& a, const Device& b) { return bytes(a) < bytes(b); });
}

bool History::Shrink(Device& device) {
  std::optional<size_t> fullest;
  const auto fill = [&](size_t tier) { return device.tier_bytes[tier] / kTiers[tier].share; };
  for (size_t tier = 0; tier < kTiers.size(); ++tier) {
    if (device.tiers[tier].empty()) continue;
    if (!fullest || fill(tier) > fill(*fullest)) fullest = tier;
  }
  if (!fullest) return false;
  if (*fullest + 1 < kTiers.size()) {
    ThinOldest(device, *fullest);
  } else {
    Take(device, *fullest, /*newest=*/false);
  }
  return true;
}

void History::ThinOldest(Device& device, size_t tier) {
  const bool is_open = device.open != nullptr && device.tiers[tier].front().chunk == device.open;
  ChunkView oldest = Take(device, tier, /*newest=*/false);
  // The next snapshot may be of another layout: then this one's last is the one that must be kept.
  oldest.is_final |= is_open;
  auto& coarser = device.tiers[tier + 1];
  const bool extends = !coarser.empty() && !coarser.back().is_final && coarser.back().size < chunk_bytes_ &&
                       coarser.back().frames < kFramesPerChunkMax && coarser.back().layout() == oldest.layout();
  std::optional<ChunkView> tail;
  if (extends) tail = Take(device, tier + 1, /*newest=*/true);
  auto thinned = Thin(extends ? &*tail : nullptr, oldest, kTiers[tier + 1].every);
  if (thinned) Add(device, tier + 1, *std::move(thinned));
}

std::vector<ChunkView> History::Chunks(size_t device) const {
  std::vector<ChunkView> views;
  absl::MutexLock lock(&mu_);
  const auto& tiers = devices_.at(device).tiers;
  views.reserve(tiers[0].size() + tiers[1].size() + tiers[2].size());
  for (auto tier = tiers.rbegin(); tier != tiers.rend(); ++tier) views.insert(views.end(), tier->begin(), tier->end());
  return views;
}

size_t History::bytes() const {
  absl::MutexLock lock(&mu_);
  return bytes_;
}

absl::Duration History::Span(size_t device) const {
  absl::Time oldest = absl::InfiniteFuture();
  absl::Time newest = absl::InfinitePast();
  for (const ChunkView& view : Chunks(device)) {
    oldest = std::min(oldest, view.first);
    newest = std::max(newest, view.last);
  }
  return newest < oldest ? absl::ZeroDuration() : newest - oldest;
}

}  // namespace sideband::daemon

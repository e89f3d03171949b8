// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/history.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "daemon/history/chunk.h"

namespace sideband::daemon {
namespace {

// Small chunks let eviction proceed in small steps. Large chunks keep the overhead of the complete first frame low.
constexpr size_t kChunkBytesMin = 8 << 10;
constexpr size_t kChunkBytesMax = 256 << 10;
constexpr size_t kChunksPerDevice = 64;
// A device with many counters gets larger chunks, with space for kFramesMin complete frames (later frames are smaller),
// as long as its share of the memory holds kLargeChunksPerDevice of them.
constexpr size_t kFramesMin = 4;
constexpr size_t kLargeChunksPerDevice = 8;

size_t SizeOfFirst(const DeviceSnapshot& snapshot) {
  CountingSink size;
  EncodeFrame(nullptr, snapshot, size);
  return size.size();
}

// Heap memory of a string, including the allocation's header.
size_t Heap(const std::string& text) { return text.capacity() < sizeof(std::string) / 2 ? 0 : text.capacity() + 17; }

// One entry of a flat_hash_map with its share of free slots, which are between 1/8 and 9/16 of all slots.
template <typename Key>
constexpr size_t kMapEntry = (sizeof(Key) + sizeof(void*) + 8) * 16 / 7;

// Decodes and encodes with one array of values: it is reset to zero after each kept frame, so that decoding accumulates
// exactly the differences that the next kept frame needs.
class Thinner {
 public:
  Thinner(const ChunkView* tail, const ChunkView& source, uint32_t every)
      : source_(source),
        every_(every),
        out_(tail == nullptr ? ByteSpan() : tail->written()),
        differences_(source.layout().values(), 0) {
    if (tail != nullptr) StartFrom(*tail);
    result_.every = every;
  }

  std::optional<ChunkView> Run() && {
    ByteSpan left = source_.written();
    FrameHeader header;
    for (uint32_t frame = 1; frame <= source_.frames && DecodeFrame(left, header, differences_); ++frame) {
      const bool is_end = source_.is_final && frame == source_.frames;
      // By publication, not by place: repeated thinning of any pieces keeps the same snapshots.
      if (header.publication % every_ == 0 || is_end) Keep(header);
      result_.is_final = is_end;
    }
    if (result_.frames == 0) return std::nullopt;
    return std::move(*this).Result();
  }

 private:
  void StartFrom(const ChunkView& tail) {
    result_ = tail;
    ByteSpan left = tail.written();
    while (DecodeFrame(left, kept_, differences_)) {
    }
    // Frames of `source` start from zero, those appended to `tail` from its last frame: its negated values make up for
    // this.
    for (uint64_t& value : differences_) value = 0 - value;
  }

  void Keep(const FrameHeader& header) {
    EncodeDifferences(kept_, header, differences_, out_);
    std::fill(differences_.begin(), differences_.end(), 0);
    kept_ = header;
    result_.Add(header, out_.written().size());
  }

  ChunkView Result() && {
    const auto chunk = std::make_shared<Chunk>(source_.layout(), out_.written().size());
    std::copy(out_.written().begin(), out_.written().end(), chunk->bytes.get());
    result_.chunk = chunk;
    return std::move(result_);
  }

  const ChunkView& source_;
  const uint32_t every_;
  GrowingSink out_;
  std::vector<uint64_t> differences_;
  FrameHeader kept_;
  ChunkView result_;
};

}  // namespace

History::History(Options options, size_t devices) : max_bytes_(options.max_bytes) {
  absl::MutexLock lock(&mu_);
  for (size_t device = 0; device < devices; ++device) Of(device);
}

size_t History::ChunkBytes() const {
  return std::clamp(max_bytes_ / (kChunksPerDevice * std::max<size_t>(devices_.size(), 1)), kChunkBytesMin,
                    kChunkBytesMax);
}

History::Device& History::Of(size_t device) {
  const auto [at, is_new] = devices_.try_emplace(device);
  if (is_new) bytes_ += sizeof(Device);
  return at->second;
}

void History::SetMaxBytes(size_t max_bytes) {
  absl::MutexLock lock(&mu_);
  max_bytes_ = max_bytes;
  // OnPublish() stores nothing from now on, not even the device's state.
  if (max_bytes == 0) {
    devices_.clear();
    bytes_ = 0;
  }
  // Without devices bytes_ is 0, so there is a first one here.
  while (bytes_ > max_bytes_ && Shrink(Largest(devices_.begin()->second, 0))) {
  }
}

void History::Remove(size_t device) {
  std::map<size_t, Device>::node_type removed;  // freed after the lock is released
  absl::MutexLock lock(&mu_);
  removed = devices_.extract(device);
  if (removed) bytes_ -= removed.mapped().bytes + sizeof(Device);
}

void History::OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) {
  auto last = snapshot;  // freed after the lock is released: it may be large
  absl::MutexLock lock(&mu_);
  if (max_bytes_ == 0) return;
  Device& to = Of(device);
  if (!AppendToOpen(to, *snapshot)) StartChunk(to, *snapshot);
  to.last.swap(last);
}

bool History::AppendToOpen(Device& device, const DeviceSnapshot& snapshot) {
  if (device.open == nullptr || !device.open->layout.Describes(snapshot)) return false;
  ChunkView& view = device.tiers[0].back();
  if (view.frames == kFramesPerChunkMax) return false;
  BoundedSink sink({device.open->bytes.get() + view.size, device.open->capacity - view.size});
  EncodeFrame(device.last.get(), snapshot, sink);
  // The view is not extended, so readers never see the partial frame.
  if (sink.full()) return false;
  view.Add(FrameHeader::Of(snapshot), view.size + sink.size());
  return true;
}

void History::StartChunk(Device& device, const DeviceSnapshot& snapshot) {
  if (device.open != nullptr) Close(device, /*is_final=*/!device.open->layout.Describes(snapshot));
  const size_t first = SizeOfFirst(snapshot);
  const size_t usual = ChunkBytes();
  // At least one complete frame must fit.
  const size_t most = std::max(first, max_bytes_ / devices_.size() / kLargeChunksPerDevice);
  const size_t capacity = std::clamp(kFramesMin * first, usual, std::max(usual, most));
  const size_t footprint = ChunkView::Footprint(snapshot.data.blocks.size(), capacity);
  // The device has no open chunk now, so a later publication tries again with a complete frame.
  if (!MakeRoom(device, *snapshot.topology, footprint)) return;
  // Allocated after room was made: the bound holds at every moment.
  const auto chunk = std::make_shared<Chunk>(Layout::Of(snapshot), capacity);
  ChunkView view{.chunk = chunk};
  BoundedSink sink({chunk->bytes.get(), capacity});
  EncodeFrame(nullptr, snapshot, sink);
  view.Add(FrameHeader::Of(snapshot), sink.size());
  Add(device, 0, std::move(view));
  device.open = chunk;
}

void History::Close(Device& device, bool is_final) {
  ChunkView view = Take(device, 0, /*newest=*/true);
  // Readers may hold the old chunk, so it is replaced by a copy of the exact size.
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
  // A topology is counted once per device, for the first chunk that uses it.
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
    if (bytes_ + wanted <= max_bytes_) return has_room;
    if (Shrink(Largest(device, wanted))) continue;
    if (!has_room) return false;
    has_room = false;  // the chunk is larger than everything evictable: drop it, keep the bound
  }
}

History::Device& History::Largest(const Device& wanting, size_t wanted) {
  const auto bytes = [&](const Device& device) { return device.bytes + (&device == &wanting ? wanted : 0); };
  return std::ranges::max_element(devices_, {}, [&](const auto& entry) { return bytes(entry.second); })->second;
}

bool History::Shrink(Device& device) {
  std::optional<size_t> fullest;
  // The tier that uses the most in relation to its share is reduced first.
  const auto fill = [&](size_t tier) { return device.tier_bytes[tier] / kTiers[tier].share; };
  for (size_t tier = 0; tier < kTiers.size(); ++tier) {
    if (device.tiers[tier].empty()) continue;
    if (!fullest || fill(tier) > fill(*fullest)) fullest = tier;
  }
  if (!fullest) return false;
  if (*fullest + 1 < kTiers.size()) {
    ThinOldest(device, *fullest);
  } else {
    // The coarsest tier: its oldest chunk is dropped.
    Take(device, *fullest, /*newest=*/false);
  }
  return true;
}

void History::ThinOldest(Device& device, size_t tier) {
  const bool is_open = device.open != nullptr && device.tiers[tier].front().chunk == device.open;
  ChunkView oldest = Take(device, tier, /*newest=*/false);
  // The next snapshot may have another layout; the last snapshot of this one must then be kept.
  oldest.is_final |= is_open;
  auto& coarser = device.tiers[tier + 1];
  // Appending to the previous chunk saves a complete first frame.
  const bool extends = !coarser.empty() && !coarser.back().is_final && coarser.back().size < ChunkBytes() &&
                       coarser.back().frames < kFramesPerChunkMax && coarser.back().layout() == oldest.layout();
  std::optional<ChunkView> tail;
  if (extends) tail = Take(device, tier + 1, /*newest=*/true);
  auto thinned = Thin(extends ? &*tail : nullptr, oldest, kTiers[tier + 1].every);
  if (thinned) Add(device, tier + 1, *std::move(thinned));
}

std::vector<ChunkView> History::Chunks(size_t device) const {
  std::vector<ChunkView> views;
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return views;
  const auto& tiers = found->second.tiers;
  // Only pointers are copied under the lock: the caller decodes without it.
  views.reserve(tiers[0].size() + tiers[1].size() + tiers[2].size());
  // Coarser tiers are older.
  for (auto tier = tiers.rbegin(); tier != tiers.rend(); ++tier) views.insert(views.end(), tier->begin(), tier->end());
  return views;
}

std::optional<ChunkView> History::ChunkWith(size_t device, uint64_t publication) const {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return std::nullopt;
  const std::vector<ChunkView>& complete = found->second.tiers[0];
  const auto after = std::ranges::upper_bound(complete, publication, {}, &ChunkView::first_publication);
  if (after == complete.begin() || std::prev(after)->last_publication < publication) return std::nullopt;
  return *std::prev(after);
}

size_t History::max_bytes() const {
  absl::MutexLock lock(&mu_);
  return max_bytes_;
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

size_t Footprint(const Topology& topology) {
  const mailbox::Catalog& catalog = topology.catalog();
  size_t bytes = sizeof(Topology) + 64;
  for (const auto& event : catalog.events) {
    bytes += sizeof(event) + Heap(event.name) + Heap(event.unit) + Heap(event.description);
  }
  for (const auto& slice : catalog.slices) bytes += sizeof(slice) + Heap(slice.name);
  for (const auto& vm : catalog.vms) bytes += sizeof(vm) + Heap(vm.name) + kMapEntry<uint16_t>;
  for (const auto& context : catalog.contexts) {
    bytes += sizeof(context) + Heap(context.name) + kMapEntry<std::pair<uint16_t, uint16_t>>;
  }
  return bytes;
}

std::optional<ChunkView> Thin(const ChunkView* tail, const ChunkView& source, uint32_t every) {
  return Thinner(tail, source, every).Run();
}

}  // namespace sideband::daemon

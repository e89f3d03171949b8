// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/sensor_history.h"

#include <algorithm>
#include <utility>

#include "daemon/history/tokens.h"

namespace sideband::daemon {
namespace {

// Small chunks let eviction proceed in small steps. Large chunks keep the overhead of the complete first frame low.
constexpr size_t kSensorChunkBytesMin = 512;
constexpr size_t kSensorChunkBytesMax = 8 << 10;
// Each group has a chunk of its own that accepts frames.
constexpr size_t kSensorChunksPerDevice = 8 * kBoardGroupCount;
// A group with many sensors gets larger chunks, as long as its device's share of the memory holds
// kLargeSensorChunksPerDevice of them.
constexpr size_t kSensorFramesMin = 4;
constexpr size_t kLargeSensorChunksPerDevice = 16;
// The overhead of a device in a map, in bytes.
constexpr size_t kNode = 64;

}  // namespace

void SensorHistory::SetMaxBytes(size_t max_bytes) {
  absl::MutexLock lock(&mu_);
  max_bytes_ = max_bytes;
  while (bytes_ > max_bytes_ && Shrink(Largest(nullptr, 0))) {
  }
  // Not even the devices' states fit.
  if (max_bytes_ == 0 || bytes_ > max_bytes_) Clear();
}

void SensorHistory::Clear() {
  devices_.clear();
  layouts_.clear();
  bytes_ = 0;
}

SensorHistory::Device* SensorHistory::Of(size_t device) {
  const auto found = devices_.find(device);
  if (found != devices_.end()) return &found->second;
  constexpr size_t kBytes = sizeof(Device) + kNode;
  while (bytes_ + kBytes > max_bytes_) {
    if (devices_.empty() || !Shrink(Largest(nullptr, 0))) return nullptr;
  }
  bytes_ += kBytes;
  return &devices_[device];
}

void SensorHistory::Remove(size_t device) {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  while (Shrink(found->second)) {
  }
  devices_.erase(found);
  bytes_ -= sizeof(Device) + kNode;
}

uint64_t SensorHistory::Cut() {
  absl::MutexLock lock(&mu_);
  for (auto& [id, device] : devices_) {
    for (Group& group : device.groups) {
      if (group.open != nullptr) Close(device, group);
    }
  }
  return frames_;
}

void SensorHistory::OnPublish(size_t device, const std::shared_ptr<const BoardReading>& reading) {
  absl::MutexLock lock(&mu_);
  Device* const to = Of(device);
  if (to == nullptr) return;
  for (const auto& [group, time] : reading->samples) Record(*to, *reading, group, time);
}

void SensorHistory::Record(Device& device, const BoardReading& reading, BoardGroup group, const BoardTime& time) {
  Group& to = device.groups[IndexOf(group)];
  if (std::exchange(to.recorded, time.steady) == time.steady) return;
  const std::vector<SensorSample> samples = SamplesOf(reading, group);
  // Some groups have no sensor, such as the list of partitions.
  if (samples.empty() && to.open == nullptr) return;
  ++frames_;
  if (!AppendToOpen(to, samples, time.wall)) StartChunk(device, group, samples, time.wall);
}

bool SensorHistory::AppendToOpen(Group& group, Samples samples, absl::Time time) {
  if (group.open == nullptr) return false;
  SensorChunkView& view = group.chunks.back();
  if (view.frames == kFramesPerChunkMax) return false;
  auto frame = SensorFrame::Of(*group.open->layout, samples, time, group.last);
  if (!frame) return false;
  BoundedSink sink({group.open->bytes.get() + view.size, group.open->capacity - view.size});
  frame->Encode(group.last, sink);
  // The view is not extended, so readers never see the partial frame.
  if (sink.full()) return false;
  view.Add(time, view.size + sink.size(), frames_);
  group.last = *std::move(frame);
  return true;
}

void SensorHistory::StartChunk(Device& device, BoardGroup group, Samples samples, absl::Time time) {
  Group& to = device.groups[IndexOf(group)];
  if (to.open != nullptr) Close(device, to);
  // Nothing has a value any more: the next chunk begins when something has.
  if (samples.empty()) return;
  auto layout = LayoutOf(group, samples);
  const SensorFrame before(layout->series.size());
  auto frame = SensorFrame::Of(*layout, samples, time, before);
  CountingSink first;
  frame->Encode(before, first);
  const size_t capacity = CapacityOf(first.size());
  // The group has no open chunk now, so its next reading tries again.
  const size_t last_bytes = SensorFrame::Footprint(layout->series.size());
  if (!MakeRoom(device, *layout, SensorChunkView::Footprint(capacity) + last_bytes)) return;
  // Allocated after room was made: the bound holds at every moment.
  const auto chunk = std::make_shared<SensorChunk>(std::move(layout), capacity);
  SensorChunkView view{.chunk = chunk};
  BoundedSink sink({chunk->bytes.get(), capacity});
  frame->Encode(before, sink);
  view.Add(time, sink.size(), frames_);
  to.open = chunk;
  to.last = *std::move(frame);
  Add(device, to, std::move(view));
}

void SensorHistory::Close(Device& device, Group& group) {
  SensorChunkView view = Take(device, group, /*newest=*/true);
  // Readers may hold the old chunk, so it is replaced by a copy of the exact size.
  const auto closed = std::make_shared<SensorChunk>(view.chunk->layout, view.size);
  std::ranges::copy(view.written(), closed->bytes.get());
  view.chunk = closed;
  Add(device, group, std::move(view));
}

void SensorHistory::Account(Device& device, size_t bytes, bool add) {
  for (size_t* const total : {&device.bytes, &bytes_}) *total = add ? *total + bytes : *total - bytes;
}

void SensorHistory::Add(Device& device, Group& group, SensorChunkView view) {
  const bool is_open = view.chunk == group.open;
  Account(device, view.footprint() + (is_open ? SensorFrame::Footprint(view.layout().series.size()) : 0), /*add=*/true);
  if (layouts_[view.chunk->layout]++ == 0) bytes_ += view.layout().Footprint();
  group.chunks.push_back(std::move(view));
}

SensorChunkView SensorHistory::Take(Device& device, Group& group, bool newest) {
  const auto at = newest ? group.chunks.end() - 1 : group.chunks.begin();
  SensorChunkView view = std::move(*at);
  group.chunks.erase(at);
  const bool is_open = view.chunk == group.open;
  Account(device, view.footprint() + (is_open ? SensorFrame::Footprint(view.layout().series.size()) : 0),
          /*add=*/false);
  if (is_open) {
    group.open = nullptr;
    group.last = SensorFrame();
  }
  const auto layout = layouts_.find(view.chunk->layout);
  if (--layout->second == 0) {
    bytes_ -= view.layout().Footprint();
    layouts_.erase(layout);
  }
  return view;
}

bool SensorHistory::MakeRoom(Device& device, const SensorLayout& layout, size_t footprint) {
  bool has_room = true;
  for (;;) {
    const bool is_in_use = std::ranges::any_of(layouts_, [&](const auto& use) { return use.first.get() == &layout; });
    const size_t wanted = has_room ? footprint + (is_in_use ? 0 : layout.Footprint()) : 0;
    if (bytes_ + wanted <= max_bytes_) return has_room;
    if (Shrink(Largest(&device, wanted))) continue;
    if (!has_room) return false;
    has_room = false;  // the chunk is larger than everything evictable: drop it, keep the bound
  }
}

SensorHistory::Device& SensorHistory::Largest(const Device* wanting, size_t wanted) {
  const auto bytes = [&](const Device& device) { return device.bytes + (&device == wanting ? wanted : 0); };
  return std::ranges::max_element(devices_, {}, [&](const auto& entry) { return bytes(entry.second); })->second;
}

bool SensorHistory::Shrink(Device& device) {
  Group* oldest = nullptr;
  for (Group& group : device.groups) {
    if (group.chunks.empty()) continue;
    if (oldest == nullptr || group.chunks.front().newest < oldest->chunks.front().newest) oldest = &group;
  }
  if (oldest == nullptr) return false;
  Take(device, *oldest, /*newest=*/false);
  return true;
}

std::shared_ptr<const SensorLayout> SensorHistory::LayoutOf(BoardGroup group, Samples samples) const {
  SensorLayout wanted{.group = group};
  wanted.series.reserve(samples.size());
  for (const SensorSample& sample : samples) wanted.series.push_back(sample.series);
  for (const auto& [layout, uses] : layouts_) {
    if (*layout == wanted) return layout;
  }
  return std::make_shared<const SensorLayout>(std::move(wanted));
}

size_t SensorHistory::CapacityOf(size_t first) const {
  const size_t share = max_bytes_ / std::max<size_t>(devices_.size(), 1);
  const size_t usual = std::clamp(share / kSensorChunksPerDevice, kSensorChunkBytesMin, kSensorChunkBytesMax);
  // At least one complete frame must fit.
  const size_t most = std::max(first, share / kLargeSensorChunksPerDevice);
  return std::clamp(kSensorFramesMin * first, usual, std::max(usual, most));
}

std::vector<SensorChunkView> SensorHistory::Chunks(size_t device) const {
  std::vector<SensorChunkView> views;
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return views;
  // Only pointers are copied under the lock: the caller decodes without it.
  for (const Group& group : found->second.groups) {
    views.insert(views.end(), group.chunks.begin(), group.chunks.end());
  }
  return views;
}

size_t SensorHistory::max_bytes() const {
  absl::MutexLock lock(&mu_);
  return max_bytes_;
}

size_t SensorHistory::bytes() const {
  absl::MutexLock lock(&mu_);
  return bytes_;
}

absl::Duration SensorHistory::Span(size_t device) const {
  absl::Time oldest = absl::InfiniteFuture();
  absl::Time newest = absl::InfinitePast();
  for (const SensorChunkView& view : Chunks(device)) {
    oldest = std::min(oldest, view.first);
    newest = std::max(newest, view.last);
  }
  return newest < oldest ? absl::ZeroDuration() : newest - oldest;
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
//
// From the collection units to memory: the channel buffer, the reduction channels, and the arbiter of their commits.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_REDUCTION_CHANNEL_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_REDUCTION_CHANNEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "secure_mcu/pipeline/record.h"

namespace sideband::mcu {

// Channel buffer: the finite queue between the collection units and the reduction channels. It never drops a record: a
// unit that finds the buffer full keeps its record and retries. (pipeline.md, "Channel buffer"; patent text, paragraph
// 63.)
// A first-in first-out ring. Not thread-safe.
class ChannelBuffer {
 public:
  // Holds `depth` records, at least 1.
  explicit ChannelBuffer(size_t depth) : ring_(depth) {}

  bool full() const { return size_ == ring_.size(); }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // The highest size() so far.
  size_t high_water() const { return high_water_; }

  // The record that Pop would return after `index` others; `index` must be below size().
  const Record& at(size_t index) const { return ring_[(head_ + index) % ring_.size()]; }

  // Must not be full.
  void Push(const Record& record);
  // Must not be empty.
  Record Pop();

 private:
  std::vector<Record> ring_;
  size_t head_ = 0;
  size_t size_ = 0;
  size_t high_water_ = 0;
};

// The event to which a collection unit's counter contributes. `shift` is the position of the wire's bit in a number of
// several bits; each count is worth 2^shift.
struct EventShare {
  uint16_t event = 0;
  uint8_t shift = 0;
  bool operator==(const EventShare&) const = default;
};

// meanings[select][ccu][counter]: what a record's counts are by the record's `select`. Of a unit's counters that a
// selection leaves without a source, which count 0, the meaning is arbitrary.
using UnitMeanings = std::vector<std::vector<EventShare>>;
using EventMeanings = std::vector<UnitMeanings>;

// Reduction channel (RC): adds the records of all collection units of a slice (channel 0: of the whole device) to
// 64-bit counters, one per event. A commit moves the sums to the memory blocks that the channel points to, and clears
// it. (pipeline.md, "Channel buffer, reduction channels, arbiter"; patent text, paragraphs 64-68.)
// Not thread-safe.
class ReductionChannel {
 public:
  ReductionChannel(size_t events, std::shared_ptr<const EventMeanings> meanings);

  // `select` and `ccu` must be those of a meaning.
  void Add(const Record& record);
  // Adds counts per event that no record carries, because others' imply them.
  void AddDerived(std::span<const uint64_t> counts);
  // Whether anything was added since the last Clear.
  bool HasData() const { return has_data_; }
  const Reduction& reduction() const { return reduction_; }
  // Clears sums and flags after a commit; the trigger id is kept.
  void Clear();

  // Where a slice's commits go, as virtual pages; initially nowhere.
  void PointTo(const std::optional<CommitTarget>& target) { target_ = target; }
  const std::optional<CommitTarget>& target() const { return target_; }

 private:
  void AddCount(uint64_t count, uint16_t event);
  void MarkSaturated(uint16_t event);

  const std::shared_ptr<const EventMeanings> meanings_;  // shared by all channels of a chip
  Reduction reduction_;
  bool has_data_ = false;
  std::optional<CommitTarget> target_;
};

// Reduction channel arbiter: serialises commits, since the memory accepts one at a time. (pipeline.md, "Channel buffer,
// reduction channels, arbiter"; patent text, paragraph 67.)
// Not thread-safe.
class Arbiter {
 public:
  // Each commit occupies the memory port for `grant_cycles`.
  explicit Arbiter(uint32_t grant_cycles) : grant_cycles_(grant_cycles) {}

  // Requests the memory port at `cycle` and returns the cycle at which the commit is in memory. Requests are granted in
  // call order.
  uint64_t Grant(uint64_t cycle) {
    const uint64_t start = std::max(cycle, free_at_);
    wait_cycles_ += start - cycle;
    ++grants_;
    return free_at_ = start + grant_cycles_;
  }

  uint64_t grants() const { return grants_; }
  // Total cycles that commits have waited for earlier commits.
  uint64_t wait_cycles() const { return wait_cycles_; }

 private:
  const uint32_t grant_cycles_;
  uint64_t free_at_ = 0;
  uint64_t grants_ = 0;
  uint64_t wait_cycles_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_REDUCTION_CHANNEL_H_

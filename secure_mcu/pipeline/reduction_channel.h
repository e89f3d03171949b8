// SPDX-License-Identifier: Apache-2.0
//
// Reduction channel (RC): adds the records of all collection units of a slice (channel 0: of the whole device) to
// 64-bit counters, one per event. A commit moves the sums to the memory blocks that the channel points to, and clears
// it. (pipeline.md,
// "Channel buffer, reduction channels, arbiter"; patent text, paragraphs 64-68.)
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_REDUCTION_CHANNEL_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_REDUCTION_CHANNEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "secure_mcu/pipeline/block_address.h"
#include "secure_mcu/pipeline/record.h"
#include "secure_mcu/pipeline/reduction.h"

namespace sideband::mcu {

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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_REDUCTION_CHANNEL_H_

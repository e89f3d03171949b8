// SPDX-License-Identifier: Apache-2.0
//
// Counter collection unit (CCU): adds the values of its unit-level counters to 28-bit counters, in two banks. A trigger
// swaps the banks; the bank that was active leaves as records of eight counters while the other counts on.
// (pipeline.md, "Counter collection unit"; patent text, paragraphs 59-62.)
//
//   CounterCollectionUnit ccu({.channel = 0, .counters = 3, .mapping = {{0, 1}, {1, kMasked, 2}}});
//   ccu.Add(0, delivered);                         // of the first unit-level counter
//   ccu.Trigger({.id = 7});
//   while (ccu.HasRecord()) buffer.Push(ccu.PopRecord());
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_COUNTER_COLLECTION_UNIT_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_COUNTER_COLLECTION_UNIT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "secure_mcu/pipeline/record.h"

namespace sideband::mcu {

// Not thread-safe.
class CounterCollectionUnit {
 public:
  // In a mapping: the value is not added to anything.
  static constexpr uint16_t kMasked = 0xFFFF;

  struct Config {
    uint16_t id = 0;
    uint8_t channel = 0;    // the slice, or kDeviceChannel
    uint16_t counters = 0;  // of each bank
    // mapping[u][i]: to which counter value i of unit-level counter u is added. Several may share one.
    std::vector<std::vector<uint16_t>> mapping;
    // A counter that reaches it asks for a trigger; 0 disables that.
    uint32_t threshold = kCcuThresholdDefault;
  };

  struct TriggerInfo {
    uint32_t id = 0;
    // A flush is built to wait for a bank that is still leaving; any other trigger that must wait is an overrun.
    bool flush = false;
  };

  explicit CounterCollectionUnit(Config config);

  const Config& config() const { return config_; }

  // Adds the values of unit-level counter `ulc`, one per value it has, and clears them. A counter that would exceed
  // 28 bits saturates there and marks the bank with the overflow flag.
  void Add(size_t ulc, std::span<uint64_t> values);
  // Whether a counter of the active bank has reached the threshold.
  bool ThresholdReached() const;
  // No counter of the active bank can reach the threshold before so many more have been added to it.
  uint64_t ThresholdHeadroom() const;
  // The most that one cycle can add to one counter.
  uint32_t GainPerCycleMax() const { return gain_per_cycle_max_; }

  // Swaps the banks. While the idle bank is still leaving the trigger is held, one deep, and done as soon as it has
  // left.
  void Trigger(TriggerInfo trigger);
  // After all records of the triggers so far, an empty record will acknowledge.
  void RequestFlush() { flush_requested_ = true; }

  bool HasRecord() const { return leaving_ || flush_requested_; }
  // HasRecord() must be true.
  Record PopRecord();

  // Triggers that had to be held.
  uint64_t trigger_overruns() const { return trigger_overruns_; }

 private:
  struct Bank {
    std::vector<uint32_t> counts;
    uint16_t flags = 0;
  };

  void AddTo(uint16_t counter, uint64_t value);
  void Swap(TriggerInfo trigger);
  Record PopCounters();

  const Config config_;
  uint32_t gain_per_cycle_max_ = 0;
  Bank banks_[2];
  int active_ = 0;
  bool leaving_ = false;       // whether the idle bank has records left
  uint16_t next_counter_ = 0;  // of the idle bank, the first of its next record
  uint32_t leaving_trigger_ = 0;
  std::optional<TriggerInfo> held_;
  bool flush_requested_ = false;
  uint64_t trigger_overruns_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_COUNTER_COLLECTION_UNIT_H_

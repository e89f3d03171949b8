// SPDX-License-Identifier: Apache-2.0
//
// Counter collection unit (CCU): adds the values of its unit-level counters to 28-bit counters, in two banks. A trigger
// swaps the banks: the previously active bank is sent as records of eight counters while the other bank counts.
// (pipeline.md, "Counter collection unit"; patent text, paragraphs 59-62.)
//
//   constexpr uint16_t kMasked = CounterCollectionUnit::kMasked;
//   CounterCollectionUnit ccu({.channel = 0, .counters = 3, .mapping = {{0, 1}, {1, kMasked, 2}}});
//   ulc.AdvanceTo(cycle, wires, ccu.Input(0));     // values of the first unit-level counter
//   ccu.Accept(0);
//   ccu.Trigger({.id = 7});
//   while (ccu.HasRecord()) buffer.Push(ccu.PopRecord());
//   ccu.Connect({{2, 1}, {0}});                    // when flushed: other values have the counters
//   ccu.Select(1);                                 // … and records say so
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
  // Mapping entry of a value that is added to no counter.
  static constexpr uint16_t kMasked = 0xFFFF;

  // mapping[u][i] is the counter to which value i of unit-level counter u is added. Several values may share a counter.
  using Mapping = std::vector<std::vector<uint16_t>>;

  struct Config {
    uint16_t id = 0;
    uint8_t channel = 0;    // the slice, or kDeviceChannel
    uint16_t counters = 0;  // per bank
    Mapping mapping;
    // A counter that reaches the threshold requests a trigger; 0 disables the threshold.
    uint32_t threshold = kCcuThresholdDefault;
  };

  struct TriggerInfo {
    uint32_t id = 0;
    // A flush is designed to wait for a bank that is still being sent. Any other trigger that has to wait is an
    // overrun.
    bool flush = false;
  };

  explicit CounterCollectionUnit(Config config);

  const Config& config() const { return config_; }

  // The values that the counters have from now on, of the same unit-level counters; initially those of the
  // configuration. And the number of that choice, which records carry. Nothing may be left to send: all is flushed, and
  // nothing was accepted since.
  void Connect(Mapping mapping);
  void Select(uint8_t select) { select_ = select; }
  uint8_t select() const { return select_; }

  // Where unit-level counter `ulc` adds its values, one per mapping entry; Accept(ulc) must follow before anything
  // else.
  std::span<uint64_t> Input(size_t ulc);
  // Takes the values that were added to Input(ulc), together less than 2^63. A counter that would exceed 28 bits
  // saturates at 2^28 - 1 and sets the overflow flag of its bank.
  void Accept(size_t ulc);
  // Whether a counter of the active bank has reached the threshold, and no trigger is held that will read it out.
  bool ThresholdReached() const;
  // The count that must be added to the highest counter of the active bank to reach the threshold. 0: threshold
  // reached. UINT64_MAX: the threshold is disabled, or the unit has no counters.
  uint64_t ThresholdHeadroom() const;
  // The largest count that one cycle can add to one counter.
  uint32_t GainPerCycleMax() const { return gain_per_cycle_max_; }

  // Adds the counts of both banks to `sums`, one per counter.
  void AddCounts(std::span<uint64_t> sums) const;

  // mailbox::BlockFlag of these counts.
  uint16_t flags() const { return banks_[0].flags | banks_[1].flags; }

  // Swaps the banks. While the idle bank is still being sent, the trigger is held, and executed as soon as that bank is
  // empty. At most one trigger is held; later ones are merged into it.
  void Trigger(TriggerInfo trigger);
  // Requests an acknowledgement: an empty record that follows all records of the triggers so far.
  void RequestFlush() { flush_requested_ = true; }

  // Records that must be sent before a held trigger is executed; 0 if none is held.
  size_t RecordsUntilHeldTrigger() const;
  bool HasRecord() const { return leaving_ || flush_requested_; }
  // HasRecord() must be true.
  Record PopRecord();

  // Triggers other than flushes that had to be held.
  uint64_t trigger_overruns() const { return trigger_overruns_; }

 private:
  struct Bank {
    std::vector<uint64_t> counts;  // at most 28 bits each, but in words as wide as the values that are added
    uint16_t flags = 0;
  };

  void AddTo(uint16_t counter, uint64_t value);
  bool IsInOrder(size_t ulc) const { return in_order_[ulc] != kMasked; }
  void Saturate(size_t ulc);
  void Swap(TriggerInfo trigger);
  Record PopCounters();

  Config config_;  // of which only the mapping changes
  uint8_t select_ = 0;
  // Per unit-level counter whose values belong to consecutive counters, the first of these; else kMasked. Such values
  // are added to the counters directly.
  std::vector<uint16_t> in_order_;
  std::vector<uint64_t> values_;  // those of another unit-level counter on their way; else 0
  uint32_t gain_per_cycle_max_ = 0;
  Bank banks_[2];
  int active_ = 0;
  bool leaving_ = false;       // the idle bank has records left to send
  uint16_t next_counter_ = 0;  // first counter of the idle bank's next record
  uint32_t leaving_trigger_ = 0;
  std::optional<TriggerInfo> held_;
  bool flush_requested_ = false;
  uint64_t trigger_overruns_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_COUNTER_COLLECTION_UNIT_H_

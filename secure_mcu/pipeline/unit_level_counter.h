// SPDX-License-Identifier: Apache-2.0
//
// Unit-level counter (ULC): narrow counters next to the wires that they count, and the serialiser that carries their
// values to the collection unit. (pipeline.md, "Unit-level counter"; US patent text, paragraphs 55-58.)
//
// Every `period` cycles the counters are copied to the serialiser and cleared; counting continues without missing a
// cycle. The values reach the collection unit when the serialiser has sent them. A counter gains at most one per cycle
// and a period is at most 2^bits - 1 cycles, so a counter cannot overflow.
//
//   UnitLevelCounter ulc({.wires = {0, 1, 2}, .period = 511});
//   ulc.Enable(100);                              // the context is switched in at cycle 100
//   ulc.AdvanceTo(5000, wires, delivered);        // delivered[i] += values that have arrived by cycle 5000
//   ulc.TakeHeld(wires, delivered);               // … and values that were still in transit
//   ulc.Disable();
//   ulc.Connect({.wires = {7, 3}});               // when nothing is held: other wires have the counters
//
// The content of the counters and the serialiser is a function of the wires and is not stored: values are counted when
// they arrive, for whole runs of periods at once (docs/decisions/0007). The values delivered up to a cycle depend on
// that cycle only, not on the steps in which it was reached.
//
// A number of several bits may be counted `prescaled`: a 6-bit accumulator adds it in each cycle; while the top bit of
// the accumulator is set, the counter gains one and the accumulator loses 32. From Enable to Disable the counter gains
// floor(sum / 32) in total. Enable clears the accumulator.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_UNIT_LEVEL_COUNTER_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_UNIT_LEVEL_COUNTER_H_

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "secure_mcu/pipeline/record.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

static_assert(kUlcHistoryCycles <= sim::kHistoryCycles, "what is held is counted when it arrives");

// Not thread-safe.
class UnitLevelCounter {
 public:
  // The wires that the counters count.
  struct Sources {
    std::vector<sim::WireId> wires;  // in the order of the counters
    // Wires per counter. 0, the ordinary case: one wire, counted as it is. 1 to 5: the digits of a number that is
    // counted prescaled, least significant first. Empty: one wire for each counter.
    std::vector<uint8_t> digits;
    std::vector<uint16_t> ids;  // one per counter, unique: the same source is known by it again

    size_t counters() const { return digits.empty() ? wires.size() : digits.size(); }
  };

  struct Config {
    std::vector<sim::WireId> wires;  // as in Sources, initially
    std::vector<uint8_t> digits;
    uint32_t counter_bits = kUlcCounterBitsMax;  // 1 to 9
    uint32_t period = kUlcPeriodMax;             // cycles, 1 to 2^counter_bits - 1
    uint32_t lanes = 1;                          // wires of the serialiser, 1 to 512
    uint32_t size = 0;                           // counters, if Connect gives them sources later; else 0

    size_t counters() const { return size > 0 ? size : digits.empty() ? wires.size() : digits.size(); }
  };

  // INVALID_ARGUMENT: the message names the value that is out of range, or shows the calculation by which the
  // serialiser cannot finish within a period.
  static absl::Status Validate(const Config& config);
  // Bits of a frame: start bit, every counter, end bit.
  static uint32_t FrameBits(const Config& config);
  // Cycles for which a frame occupies the lanes.
  static uint32_t SerialCycles(const Config& config);

  // `config` must be valid.
  explicit UnitLevelCounter(Config config);

  bool enabled() const { return enabled_; }
  // Cycles below this one have arrived at the collection unit, or were not to be counted.
  uint64_t delivered() const { return delivered_; }

  // Starts counting with cleared counters. `cycle` is the first counted cycle and the start of a period.
  void Enable(uint64_t cycle);
  // Counts the cycles up to but not including `cycle`, and adds the values that have arrived by then to `delivered`
  // (one sum per counter). `cycle` must not go back. The wires must hold sim::kHistoryCycles before the cycle of the
  // last call, and every cycle since. Has no effect while disabled. Returns whether values arrived.
  bool AdvanceTo(uint64_t cycle, const sim::WireSource& wires, std::span<uint64_t> delivered);
  // Adds the values still held by the counters and the serialiser to `delivered`, and clears both; a new period starts
  // at the current cycle. Used by flushes, which must leave nothing behind. The accumulators keep their remainders.
  void TakeHeld(const sim::WireSource& wires, std::span<uint64_t> delivered);
  // Adds what TakeHeld would, and changes nothing.
  void AddHeld(const sim::WireSource& wires, std::span<uint64_t> sums) const;
  // The sources from now on, at most as many as there are counters; `sums` and `delivered` have one sum for each.
  // Nothing may be held. The accumulator of a number keeps its remainder until the next Enable, also while the number
  // is no source.
  void Connect(Sources sources);
  // Stops counting and drops the values still held. Call TakeHeld first to keep them.
  void Disable() { enabled_ = false; }

 private:
  // Consecutive wires of consecutive sources.
  struct Run {
    sim::WireId first;
    size_t size;
  };
  static std::vector<Run> RunsOf(const std::vector<sim::WireId>& wires);
  uint64_t Arrived() const;
  bool DeliverUntil(uint64_t cycle, const sim::WireSource& wires, std::span<uint64_t> delivered);
  void AddCounts(sim::CycleRange range, const sim::WireSource& wires, std::span<uint64_t> sums) const;
  void AddPrescaled(sim::CycleRange range, const sim::WireSource& wires, std::span<uint64_t> accumulators,
                    std::span<uint64_t> wire_counts, std::span<uint64_t> delivered) const;

  const uint32_t period_;
  const uint32_t serial_cycles_;
  Sources sources_;
  std::vector<Run> runs_;  // if they are few; else none
  bool enabled_ = false;
  uint64_t now_ = 0;                         // cycles below this have passed
  uint64_t period_origin_ = 0;               // start of a period; a period starts every `period` cycles since
  uint64_t delivered_ = 0;                   // cycles below this have arrived at the collection unit
  std::vector<uint64_t> accumulators_;       // of prescaled counters
  std::map<uint16_t, uint64_t> remainders_;  // of the accumulators of former sources
  std::vector<uint64_t> wire_counts_;        // scratch
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_UNIT_LEVEL_COUNTER_H_

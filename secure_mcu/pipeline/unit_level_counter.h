// SPDX-License-Identifier: Apache-2.0
//
// Unit-level counter (ULC): a few narrow counters beside the wires that they count, and the serialiser that carries
// their values away. (pipeline.md, "Unit-level counter"; US patent text, paragraphs 55-58.)
//
// Every `period` cycles the counters are copied to the serialiser and cleared, and counting goes on without missing a
// cycle; the values reach the collection unit when the serialiser has sent them. Since a counter gains at most one in a
// cycle and a period is at most 2^bits - 1 cycles, a counter cannot overflow.
//
//   UnitLevelCounter ulc({.wires = {0, 1, 2}, .period = 511});
//   ulc.Enable(100);                              // the context is switched in at cycle 100
//   ulc.AdvanceTo(5000, wires, delivered);        // delivered[i] += what has reached the collection unit by cycle 5000
//   ulc.TakeHeld(wires, delivered);               // … and what was still on its way
//   ulc.Disable();
//
// What the counters and the serialiser hold is a function of the wires, so neither is stored: only values that have
// arrived are counted, whole runs of periods at once. What is delivered at the end of a call depends on the cycle
// alone, not on the steps in which it was reached.
//
// A number of several bits may be counted `prescaled`: a 6-bit accumulator adds it in each cycle, and while its top bit
// is set the counter gains one and the accumulator loses 32. Thus the counter gains floor(sum / 32) in all from Enable
// to Disable, where the accumulator is cleared.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_UNIT_LEVEL_COUNTER_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_UNIT_LEVEL_COUNTER_H_

#include <cstdint>
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
  struct Config {
    std::vector<sim::WireId> wires;  // in the order of the counters
    // Per counter how many wires it has: 0, the ordinary case, is one wire that is counted as it is; 1 to 5 are the
    // digits, the least significant first, of a number that is counted prescaled. Empty: one wire for each counter.
    std::vector<uint8_t> digits;
    uint32_t counter_bits = kUlcCounterBitsMax;  // 1 to 9
    uint32_t period = kUlcPeriodMax;             // cycles, 1 to 2^counter_bits - 1
    uint32_t lanes = 1;                          // wires of the serialiser, 1 to 512

    size_t counters() const { return digits.empty() ? wires.size() : digits.size(); }
  };

  // INVALID_ARGUMENT names the value that is out of its range, or shows the arithmetic by which the serialiser cannot
  // finish within a period.
  static absl::Status Validate(const Config& config);
  // The bits of a frame: start, every counter, end.
  static uint32_t FrameBits(const Config& config);
  // How long a frame (start bit, every counter, end bit) is on the lanes, in cycles.
  static uint32_t SerialCycles(const Config& config);

  // `config` must be valid.
  explicit UnitLevelCounter(Config config);

  bool enabled() const { return enabled_; }

  // Starts counting with cleared counters: `cycle` is the first one that counts, and a period starts there.
  void Enable(uint64_t cycle);
  // Counts the cycles up to but not including `cycle`, and adds to `delivered` (one sum per counter) what has arrived
  // by then. `cycle` must not go back; the wires must hold sim::kHistoryCycles before the cycle of the last call, and
  // every one since. Does nothing while disabled. Returns whether anything arrived.
  bool AdvanceTo(uint64_t cycle, const sim::WireSource& wires, std::span<uint64_t> delivered);
  // Adds to `delivered` what the counters and the serialiser still hold, and clears both; a new period starts at the
  // cycle reached. Used where a flush must leave nothing behind. The accumulators keep their remainders.
  void TakeHeld(const sim::WireSource& wires, std::span<uint64_t> delivered);
  // Stops counting. What is still held is dropped: take it first.
  void Disable() { enabled_ = false; }

 private:
  uint64_t Arrived() const;
  bool DeliverUntil(uint64_t cycle, const sim::WireSource& wires, std::span<uint64_t> delivered);
  void AddPrescaled(sim::CycleRange range, const sim::WireSource& wires, std::span<uint64_t> delivered);

  const Config config_;
  const uint32_t serial_cycles_;
  bool enabled_ = false;
  uint64_t now_ = 0;                    // cycles below have passed
  uint64_t period_origin_ = 0;          // a period started here, and every `period` cycles since
  uint64_t delivered_ = 0;              // cycles below have arrived at the collection unit
  std::vector<uint64_t> accumulators_;  // of prescaled counters
  std::vector<uint64_t> wire_counts_;   // scratch
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_UNIT_LEVEL_COUNTER_H_

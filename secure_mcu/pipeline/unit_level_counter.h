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
//   ulc.TakeHeld(delivered);                      // … and what was still on its way
//   ulc.Disable();
//
// Runs of many periods are counted in one go: what is delivered at the end of a call depends on the cycle alone, not on
// the steps in which it was reached.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_UNIT_LEVEL_COUNTER_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_UNIT_LEVEL_COUNTER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "secure_mcu/pipeline/record.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// Not thread-safe.
class UnitLevelCounter {
 public:
  struct Config {
    std::vector<sim::WireId> wires;              // one counter each, 1 to 45
    uint32_t counter_bits = kUlcCounterBitsMax;  // 1 to 9
    uint32_t period = kUlcPeriodMax;             // cycles, 1 to 2^counter_bits - 1
    uint32_t lanes = 1;                          // wires of the serialiser, 1 to 512
  };

  // INVALID_ARGUMENT names the value that is out of its range, or shows the arithmetic by which the serialiser cannot
  // finish within a period.
  static absl::Status Validate(const Config& config);
  // How long a frame (start bit, every counter, end bit) is on the lanes, in cycles.
  static uint32_t SerialCycles(const Config& config);

  // `config` must be valid.
  explicit UnitLevelCounter(Config config);

  size_t size() const { return config_.wires.size(); }
  bool enabled() const { return enabled_; }

  // Starts counting with cleared counters: `cycle` is the first one that counts, and a period starts there.
  void Enable(uint64_t cycle);
  // Counts the cycles up to but not including `cycle`, and adds to `delivered` (one sum per counter) what has arrived
  // by then. `cycle` must not go back; the wires must hold every cycle since the last call. Does nothing while
  // disabled.
  void AdvanceTo(uint64_t cycle, const sim::WireSource& wires, std::span<uint64_t> delivered);
  // Adds to `delivered` what the counters and the serialiser still hold, and clears both; a new period starts at the
  // cycle reached. Used where a flush must leave nothing behind.
  void TakeHeld(std::span<uint64_t> delivered);
  // Stops counting. What is still held is dropped: take it first.
  void Disable();

 private:
  void Count(uint64_t until, const sim::WireSource& wires, std::span<uint64_t> sums);
  void DeliverArrived(std::span<uint64_t> delivered);

  const Config config_;
  const uint32_t serial_cycles_;
  bool enabled_ = false;
  uint64_t now_ = 0;           // cycles below are counted
  uint64_t period_start_ = 0;  // of the running period
  bool in_flight_ = false;     // whether serial_ holds a frame
  uint64_t arrival_ = 0;       // when that frame is complete at the collection unit
  std::vector<uint64_t> live_;
  std::vector<uint64_t> serial_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_UNIT_LEVEL_COUNTER_H_

// SPDX-License-Identifier: Apache-2.0
//
// The first half of the pipeline: unit-level counters on their wires, the collection units that they count into, and
// the channel buffer, through which the mover takes their records to `route`.
//   ChipUnits units(config, selections, residents, route);
//   units.Attach(0, wires);
//   units.Enable(0);                     // the units of slice 0 count
//   units.CountTo(units.NextStop(100));
//   units.SwapBanks(trigger_id);         // what they hold becomes records
#ifndef SIDEBAND_SECURE_MCU_CHIP_CHIP_UNITS_H_
#define SIDEBAND_SECURE_MCU_CHIP_CHIP_UNITS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "secure_mcu/chip/chip_clocks.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/residents.h"
#include "secure_mcu/chip/rotation_turns.h"
#include "secure_mcu/chip/selections.h"
#include "secure_mcu/pipeline/counter_collection_unit.h"
#include "secure_mcu/pipeline/record.h"
#include "secure_mcu/pipeline/reduction_channel.h"
#include "secure_mcu/pipeline/trigger_block.h"
#include "secure_mcu/pipeline/unit_level_counter.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// Moves records from the collection units through the channel buffer to the reduction channels, in device cycles: a
// unit sends a record every `record_cycles`, the buffer routes a record every `route_cycles`, and a full buffer stalls
// the units. Not thread-safe.
class RecordMover {
 public:
  struct Latencies {
    uint32_t buffer_depth;
    uint32_t record_cycles;
    uint32_t route_cycles;
  };
  using Route = std::function<void(const Record&)>;

  // `ccus` must outlive the mover. `route` receives each record that leaves the buffer.
  RecordMover(Latencies latencies, std::vector<CounterCollectionUnit>& ccus, Route route);

  // Moves records for `cycles` cycles.
  void RunFor(uint64_t cycles);
  // Moves records until `done` returns true or no record is left.
  void RunUntil(const std::function<bool()>& done);

  // The pipeline's own cycle, which advances while the watched units are halted.
  uint64_t now() const { return now_; }
  // Cycles in which a unit had a record to send and the buffer was full, summed over units.
  uint64_t stall_cycles() const { return stall_cycles_; }
  const ChannelBuffer& buffer() const { return buffer_; }
  size_t buffer_high_water() const { return buffer_.high_water(); }

 private:
  // Collects the units that have records: only what happens between runs gives a unit its first record.
  void FindSenders();
  bool Idle() const { return buffer_.empty() && ready_.empty() && resting_.empty(); }
  void Step();
  void Wake();
  void Send(size_t unit);

  const Latencies latencies_;
  std::vector<CounterCollectionUnit>& ccus_;
  const Route route_;
  ChannelBuffer buffer_;
  uint64_t now_ = 0;
  uint64_t route_ready_ = 0;          // when the buffer may route its next record
  std::vector<uint64_t> unit_ready_;  // when each unit may send its next record
  // The units that have records, while records are moved.
  std::vector<size_t> ready_;   // to send in this cycle, ascending
  std::deque<size_t> resting_;  // after a record, in the order in which they will be ready
  size_t first_unit_ = 0;       // the unit served first; rotates
  uint64_t stall_cycles_ = 0;
};

// A channel is a slice or kDeviceChannel, whose units count from the start and are never paused. Functions that take
// std::optional<uint8_t> are for all channels without one. Not thread-safe.
class ChipUnits {
 public:
  // `config` is valid; it, `selections` and `residents` must outlive the units. `route` receives each record that
  // leaves the buffer.
  ChipUnits(const PipelineConfig& config, const Selections& selections, const Residents& residents,
            RecordMover::Route route);
  ChipUnits(const ChipUnits&) = delete;
  ChipUnits& operator=(const ChipUnits&) = delete;

  // All reference cycles below now() have been counted.
  uint64_t now() const { return now_; }
  // Chip::Attach, behind the gates.
  void Attach(uint8_t channel, const sim::WireSource& wires);
  // Not before now(). Every channel that counts has wires.
  void CountTo(uint64_t cycle);
  // Chip::AdvanceWithinCycle. No record is left in the units then that was there before.
  void CountWithinCycle();
  // The first cycle at which a threshold may be due, or a trigger that a collection unit holds; `end` at the latest.
  uint64_t NextStop(uint64_t end) const;
  // From now on; cycles that CountWithinCycle has credited to an earlier resident are not counted again.
  void Enable(uint8_t channel);
  void Disable(uint8_t channel);
  // Records that begin from now on carry this select. Returns whether any unit had another one; then Connect must
  // follow.
  bool Select(uint8_t channel, uint8_t select);
  // The channel's switched units count what the select connects.
  void Connect(uint8_t channel, uint8_t select);
  // Clocks may make other edges than they would have made, from now on.
  void ForgetClocks() { clocks_.Forget(); }

  // Triggers, of units that count.
  void FireThresholds(TriggerBlock& triggers);
  void SwapBanks(uint32_t trigger_id);
  // A flush: what unit-level counters hold goes into the banks, these are swapped, and each collection unit
  // acknowledges to `triggers` that it has sent all.
  void TakeHeld(std::optional<uint8_t> channel);
  void SwapBanksToFlush(std::optional<uint8_t> channel, uint32_t trigger_id);
  void RequestFlush(std::optional<uint8_t> channel, TriggerBlock& triggers);

  const EventMeanings& meanings() const { return *meanings_; }
  RecordMover& mover() { return mover_; }
  const RecordMover& mover() const { return mover_; }
  uint64_t trigger_overruns() const;
  // How far the channel's units have counted each clock.
  RotationInstant InstantOf(uint8_t channel) const;
  // By row of the network: how far its units have counted. Valid until the next call.
  std::span<const ClockNetwork::Horizon> FindHorizons(const ClockNetwork& network);

  // Which of what is on its way in units and buffer: of a channel, under the select that it was counted by.
  using Wanted = absl::FunctionRef<bool(uint8_t channel, uint8_t select)>;
  // Adds the counts to sums, by event; saturating.
  void AddCounts(Wanted wanted, std::span<uint64_t> sums) const;
  // The flags of their records.
  uint16_t FlagsOf(Wanted wanted) const;

 private:
  // A unit-level counter and its place in the pipeline.
  struct Unit {
    UnitLevelCounter ulc;
    size_t ccu;
    size_t index;  // within its collection unit
    uint8_t channel;
    size_t wiring;  // into wires_
    uint32_t domain;
    bool is_switched;
    size_t clock = 0;      // into clocks_
    uint64_t counted = 0;  // cycles of its domain below this are counted, also those within reference cycle now()
  };

  void FindClocks();
  void AddShare(size_t ccu, size_t counter, uint64_t count, std::span<uint64_t> sums) const;
  void CountUnit(Unit& unit, uint64_t until);
  uint64_t ThresholdStop(uint64_t end) const;
  uint64_t HeldTriggerStop(uint64_t end) const;
  bool IsCounting(const CounterCollectionUnit& ccu) const { return residents_.IsCounting(ccu.config().channel); }

  const PipelineConfig& config_;
  const Selections& selections_;
  const Residents& residents_;
  const std::shared_ptr<const EventMeanings> meanings_;  // the selections'
  std::vector<CounterCollectionUnit> ccus_;
  std::vector<Unit> units_;
  UnitClocks clocks_;
  std::vector<std::vector<size_t>> ccu_clocks_;  // of each collection unit's units
  std::vector<const sim::WireSource*> wires_;    // per slice, then the device-scope units'
  RecordMover mover_;
  uint64_t now_ = 0;
  std::vector<ClockNetwork::Horizon> horizons_;  // by row; scratch
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_CHIP_UNITS_H_

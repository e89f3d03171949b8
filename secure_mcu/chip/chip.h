// SPDX-License-Identifier: Apache-2.0
//
// The whole counter pipeline, wired as in the block diagram: the only place where its blocks meet.
//
//   SIDEBAND_ASSIGN_OR_RETURN(const auto chip, Chip::Create(config));
//   const BlockId vm = chip->memory().Create(1, mailbox::kNoContext), context = chip->memory().Create(1, 0);
//   chip->Attach(0, wires);
//   chip->AdvanceTo(100);
//   chip->SwitchTo(0, Binding{vm, context});       // on slice 0 from cycle 100 on
//   chip->AdvanceTo(5000);
//   chip->SwitchTo(0, std::nullopt);               // until cycle 5000
//   chip->memory().counters(context);
//
// Time. Cycles count the reference clock of the watched units. A context switch halts its slice, so it takes no cycle
// of that clock; what it costs follows from the latencies and is reported. Totals never depend on latencies, depths or
// periods.
#ifndef SIDEBAND_SECURE_MCU_CHIP_CHIP_H_
#define SIDEBAND_SECURE_MCU_CHIP_CHIP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/record_mover.h"
#include "secure_mcu/chip/switch_step.h"
#include "secure_mcu/pipeline/arbiter.h"
#include "secure_mcu/pipeline/counter_collection_unit.h"
#include "secure_mcu/pipeline/memory_blocks.h"
#include "secure_mcu/pipeline/reduction_channel.h"
#include "secure_mcu/pipeline/trigger_block.h"
#include "secure_mcu/pipeline/unit_level_counter.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

struct ChipStats {
  uint64_t periodic_triggers = 0;
  uint64_t written_triggers = 0;  // latches among them
  uint64_t external_triggers = 0;
  uint64_t threshold_triggers = 0;
  uint64_t trigger_overruns = 0;
  uint64_t stall_cycles = 0;
  uint64_t buffer_high_water = 0;
  uint64_t commits = 0;
  uint64_t commit_wait_cycles = 0;
  uint64_t mmu_faults = 0;
  uint64_t switches = 0;
  uint64_t switch_cycles = 0;      // of all switches
  uint64_t switch_cycles_max = 0;  // of the dearest
};

// Not thread-safe.
class Chip {
 public:
  // INVALID_ARGUMENT where Validate(config) says so.
  static absl::StatusOr<std::unique_ptr<Chip>> Create(const PipelineConfig& config);
  Chip(const Chip&) = delete;
  Chip& operator=(const Chip&) = delete;

  MemoryBlocks& memory() { return memory_; }
  const MemoryBlocks& memory() const { return memory_; }
  // The address spaces of the slices' channels. A context switch binds both channel and MMU; who binds the MMU alone
  // makes the channel's commits fault until the next switch.
  Mmu& mmu() { return mmu_; }

  // What the out-of-band channel has committed so far; zeros where the chip has none.
  std::span<const uint64_t> out_of_band() const { return out_of_band_.counters(0); }

  // The wires of a slice, or of the device-scope units (kDeviceChannel), from now on. They must have the clock domains
  // of the units, hold the cycles from kUlcHistoryCycles before now() up to the next AdvanceTo, and live until the next
  // Attach.
  void Attach(uint8_t channel, const sim::WireSource& wires);

  // The reference cycles below are counted.
  uint64_t now() const { return now_; }
  // The device's reference clock at now(), nanoseconds since cycle 0.
  uint64_t ReferenceTimeNs() const;
  // And when a slice's channel, or the hypervisor's (kDeviceChannel), committed last, whether it had counts or not.
  uint64_t CommittedNs(uint8_t channel) const;
  // Counts on; every slice and the device-scope units must have wires. `cycle` below now() does nothing.
  void AdvanceTo(uint64_t cycle);
  // Counts the cycles of other clock domains that the wires hold beyond those of now(): they belong to the reference
  // cycle now(), and to whom is resident then.
  void AdvanceWithinCycle();

  // Takes whoever is resident off the slice at now() and puts `to` there, by the eleven steps. Returns their cost in
  // cycles.
  uint64_t SwitchTo(uint8_t slice, std::optional<Binding> to);
  const std::optional<Binding>& resident(uint8_t slice) const { return bound_[slice]; }
  // Every step of every switch from now on is told.
  void TraceSwitches(SwitchTracer tracer) { tracer_ = std::move(tracer); }

  // Swaps the banks of every unit that counts: a register write or an external trigger. Returns the trigger's id.
  uint32_t Trigger(TriggerKind kind);
  // A written trigger and flush of every unit: the memory blocks then hold exactly the cycles below now(). Returns the
  // trigger's id.
  uint32_t Latch();

  ChipStats stats() const;

 private:
  // A unit-level counter, where it belongs, and room for its values on their way.
  struct Unit {
    UnitLevelCounter ulc;
    size_t ccu;
    size_t index;  // within its collection unit
    uint8_t channel;
    size_t wiring;  // into wires_
    uint32_t domain;
    std::vector<uint64_t> values;
    uint64_t counted = 0;  // cycles of its domain below this are counted, those held of the next reference cycle too
  };

  // A reduction channel and when it commits by itself.
  struct Channel {
    ReductionChannel reduction;
    uint64_t commit_period;  // 0: never
    uint64_t next_commit;
    uint64_t committed = 0;  // the cycle of the last one
  };

  Chip(const PipelineConfig& config, std::vector<CounterCollectionUnit> ccus, std::vector<Unit> units,
       std::shared_ptr<const EventMeanings> meanings);

  static Channel MakeChannel(const PipelineConfig& config, const std::shared_ptr<const EventMeanings>& meanings,
                             uint64_t commit_period);

  uint64_t NanosecondsAt(uint64_t cycle) const;
  uint64_t NextStop(uint64_t cycle) const;
  uint64_t LastWithin(const Unit& unit, uint64_t edges, uint64_t end) const;
  uint64_t ThresholdStop(uint64_t end) const;
  void CountTo(uint64_t cycle);
  void CountUnit(Unit& unit, uint64_t until);
  void FireDue();
  void RouteRecord(const Record& record);

  bool IsCounting(uint8_t channel) const;
  void TakeHeld(std::optional<uint8_t> channel);
  void SwapBanks(std::optional<uint8_t> channel, uint32_t trigger_id);
  void RequestFlush(std::optional<uint8_t> channel);
  void AwaitAcknowledgements();
  void Enable(uint8_t channel);
  void Disable(uint8_t channel);

  void Commit(size_t channel);
  void CommitToSlice(uint8_t slice);
  void CommitAll();
  void ShowState(const std::optional<Binding>& binding);
  bool IsResident(BlockId block) const;

  void FlushOut(SwitchStepEvent& event);
  void MoveIn(SwitchStepEvent& event);
  void Step(SwitchStep step, SwitchStepEvent& event, const std::function<void()>& action);

  // Constant after construction.
  const PipelineConfig config_;
  const size_t hypervisor_;  // index of its channel and of the device-scope units' wires

  std::vector<CounterCollectionUnit> ccus_;
  std::vector<Unit> units_;
  std::vector<Channel> channels_;  // one per slice, the hypervisor's, and the out-of-band one if there is one
  RecordMover mover_;
  TriggerBlock triggers_;
  Arbiter arbiter_;
  Mmu mmu_;
  MemoryBlocks memory_;
  MemoryBlocks out_of_band_;                   // the microcontroller's own: one block
  std::vector<std::optional<Binding>> bound_;  // what each slice's channel is pointed at
  std::vector<const sim::WireSource*> wires_;  // per slice, then the device-scope units'
  uint64_t now_ = 0;
  uint64_t records_ = 0;  // that left the channel buffer since the last switch began, and acknowledgements
  uint32_t acknowledgements_ = 0;
  SwitchTracer tracer_;
  ChipStats stats_;  // what no block counts itself
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_CHIP_H_

// SPDX-License-Identifier: Apache-2.0
//
// The whole counter pipeline, wired as in the block diagram: its halves are ChipUnits and ChipChannels, and only these
// three connect blocks.
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
// Time. Cycles count the reference clock of the watched units. A context switch halts its slice and takes no cycle of
// that clock; its cost follows from the latencies and is reported (docs/decisions/0002). Totals never depend on
// latencies, depths or periods.
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
#include "absl/strings/string_view.h"
#include "secure_mcu/chip/chip_channels.h"
#include "secure_mcu/chip/chip_clocks.h"
#include "secure_mcu/chip/chip_rotation.h"
#include "secure_mcu/chip/chip_units.h"
#include "secure_mcu/chip/guest_access.h"
#include "secure_mcu/chip/live_counts.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/residents.h"
#include "secure_mcu/chip/selections.h"
#include "secure_mcu/pipeline/clock_packets.h"
#include "secure_mcu/pipeline/memory_blocks.h"
#include "secure_mcu/pipeline/trigger_block.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// The eleven steps of a context switch, in order of execution (pipeline.md, "Context switch").
enum class SwitchStep : uint8_t {
  kHalt = 1,      // the context
  kPause,         // unit-level counters' transfers and periodic triggers
  kTrigger,       // collection units take the values held by their unit-level counters and swap their banks
  kFlushRequest,  // to every collection unit of the slice
  kEmit,          // remaining records, then an empty record as the acknowledgement
  kCommit,        // to the old blocks; clears the channel
  kRebind,        // channel and MMU, to the new blocks
  kPoll,          // until every acknowledgement has been received
  kRestore,       // the new context
  kUnpause,       // triggers, then unit-level counters
  kRun,
};
inline constexpr uint8_t kSwitchSteps = 11;

// "halt", "pause", "trigger", "flush_request", "emit", "commit", "rebind", "poll", "restore", "unpause", "run".
absl::string_view SwitchStepName(SwitchStep step);

// A step that has been done, for the tracer.
struct SwitchStepEvent {
  uint64_t switch_number = 0;  // from 1, per chip
  uint8_t slice = 0;
  SwitchStep step = SwitchStep::kHalt;
  uint64_t cycle = 0;           // of the watched units, which are halted during a switch
  uint64_t pipeline_cycle = 0;  // at the end of the step
  std::optional<Binding> from, to;
  uint64_t records = 0;           // of all slices, that have left the channel buffer since the switch began
  uint32_t acknowledgements = 0;  // received since the switch began
};

using SwitchTracer = std::function<void(const SwitchStepEvent&)>;

struct ChipStats {
  bool operator==(const ChipStats&) const = default;

  uint64_t periodic_triggers = 0;
  uint64_t written_triggers = 0;  // including latches
  uint64_t external_triggers = 0;
  uint64_t grid_triggers = 0;
  uint64_t threshold_triggers = 0;
  uint64_t trigger_overruns = 0;
  uint64_t stall_cycles = 0;
  uint64_t buffer_high_water = 0;
  uint64_t commits = 0;
  uint64_t commit_wait_cycles = 0;
  uint64_t mmu_faults = 0;
  uint64_t switches = 0;
  uint64_t exits = 0, entries = 0;        // of VMs, those of switches included; 0 without gate groups
  uint64_t gate_cycles = 0;               // of all exits and entries
  uint64_t switch_cycles = 0;             // of all switches
  uint64_t switch_cycles_max = 0;         // of the most expensive switch
  uint64_t slot_ends = 0;                 // of rotation, without those of switches
  uint64_t slot_cycles = 0;               // of all slot ends
  uint64_t rotation_inconsistencies = 0;  // mailbox::PipelineStatistics
};

// Not thread-safe.
class Chip {
 public:
  // INVALID_ARGUMENT if Validate(config) fails.
  static absl::StatusOr<std::unique_ptr<Chip>> Create(const PipelineConfig& config);
  Chip(const Chip&) = delete;
  Chip& operator=(const Chip&) = delete;

  MemoryBlocks& memory() { return channels_.memory(); }
  const MemoryBlocks& memory() const { return channels_.memory(); }
  // The roots of the slices' channels. A context switch points the channel to the resident's pages and binds the table
  // of its VM. With another root here, or other entries in memory().page_tables(), commits fault: the root until the
  // next switch, an entry until it is mapped again.
  Mmu& mmu() { return channels_.mmu(); }

  // Gives each slice a host block. From now on a slice without a resident is in host mode instead of paused: its units
  // count, and its counts are committed to its host block. With kWhileBound it does while SwitchTo has bound it to that
  // block, Binding{.vm = host_block(slice)}. To be called once, while no slice has a resident, and for the default
  // after every slice got its wires.
  void CreateHostBlocks(HostTime time = HostTime::kWithoutResident);
  // The slice's host block; CreateHostBlocks was called.
  BlockId host_block(uint8_t slice) const { return residents_.host_block(slice); }

  // The counts committed by the out-of-band channel so far, without those of private VMs; zeros if the chip has no such
  // channel.
  std::span<const uint64_t> out_of_band() const { return channels_.out_of_band().counters(0); }

  // Sets the wires of a slice, or of the device-scope units (kDeviceChannel), from now on. The wires must have the
  // clock domains of the units, hold the cycles from kUlcHistoryCycles before now() up to the next AdvanceTo, and live
  // until the next Attach.
  void Attach(uint8_t channel, const sim::WireSource& wires);

  // All reference cycles below now() have been counted.
  uint64_t now() const { return units_.now(); }
  // The device's reference clock at now(), nanoseconds since cycle 0.
  uint64_t ReferenceTimeNs() const { return NanosecondsAt(config_, now()); }
  // The reference time of the last commit of a slice's channel, or of the hypervisor's (kDeviceChannel), whether or not
  // that commit had counts.
  uint64_t CommittedNs(uint8_t channel) const { return NanosecondsAt(config_, channels_.committed(channel)); }
  // Counts all reference cycles below `cycle`; has no effect if `cycle` is below now(). Every slice and the
  // device-scope units must have wires.
  void AdvanceTo(uint64_t cycle);
  // Counts the cycles of other clock domains that the wires hold beyond those of now(). They belong to reference cycle
  // now() and are credited to its residents (docs/decisions/0006).
  void AdvanceWithinCycle();

  // Replaces the resident of the slice by `to` at now(), in the eleven steps of a context switch; nullopt leaves the
  // slice idle, or to its host block. Returns the cost of the steps in cycles.
  uint64_t SwitchTo(uint8_t slice, std::optional<Binding> to);
  const std::optional<Binding>& resident(uint8_t slice) const { return residents_.of(slice); }
  // Calls `tracer` after every step of every switch from now on.
  void TraceSwitches(SwitchTracer tracer) { tracer_ = std::move(tracer); }

  uint32_t slices() const { return config_.slices; }
  uint32_t events() const { return config_.events; }
  // Control blocks and gates, exits and entries, and what a resident itself may read and write.
  GuestAccess& guests() { return guests_; }
  // Counts on their way, and the registers by which they are read.
  LiveCounts& live() { return live_; }
  const LiveCounts& live() const { return live_; }

  // The choices of VmControl::selection, which takes effect at the next switch. Without selections it has no
  // effect; a number beyond them selects nothing.
  const std::vector<mailbox::EventSet>& selections() const { return selections_.sets(); }
  // INVALID_ARGUMENT as SelectableEvents::Check.
  absl::Status CheckSelections(std::span<const mailbox::EventSet> sets) const { return selections_.Check(sets); }
  // Replaces them by sets that have passed the check, for residents at once, whose control blocks are read again. All
  // is flushed: right after Latch, at the same cycle. An event that stays selected loses no count.
  void SetSelections(std::vector<mailbox::EventSet> sets);

  // Counter rotation. Without a rotation in the configuration, or without an event that turns, it is absent.
  bool has_rotation() const { return rotation_.has_value(); }
  ChipRotation& rotation() { return *rotation_; }
  const ChipRotation& rotation() const { return *rotation_; }

  // Swaps the banks of every unit that counts, for a register write or an external trigger. Returns the trigger's id.
  uint32_t Trigger(TriggerKind kind);
  // Further triggers at the multiples of `period` cycles after now(), beside the periodic ones, in place of the grid
  // that was set before; 0: none. Bookmarks that wait for the grid are served where it ends.
  void SetTriggerGrid(uint64_t period);
  // Triggers, as a register write does, and flushes every unit: the memory blocks then hold exactly the cycles below
  // now(). Returns the trigger's id. The clock domains' packets are for controllers: a latch for others leaves none.
  uint32_t Latch(bool leaves_packets = true);

  // Asks for what the block of a VM or a context has counted at the next trigger of the grid, or where its context is
  // switched out before. Its slices are flushed there: no number is taken, and no cycle passes. None must be pending
  // there, and there must be a grid.
  void AskBookmark(BlockId block, uint32_t bookmark);
  bool has_trigger_grid() const { return triggers_.has_grid(); }
  const BookmarkRings& bookmarks() const { return bookmarks_; }
  // When its block is renewed or released.
  void ForgetBookmarks(BlockId block) { bookmarks_.Forget(block); }

  // The clock domains of the configuration: their monitors' packets, and the scheduler.
  // Sets the frequency of a domain's clocks to a level, soon: after the returned instant, which is not before now().
  // The wires must be given the same step before the chip is advanced. There must be domains.
  sim::Instant StepClock(uint32_t domain, uint64_t hz);
  bool has_clocks() const { return network_.has_value(); }
  ClockNetwork& clocks() { return *network_; }
  const ClockNetwork& clocks() const { return *network_; }

  ChipStats stats() const;

 private:
  Chip(const PipelineConfig& config, Selections selections);

  uint64_t NextStop(uint64_t cycle) const;
  void FireDueTriggers();
  void FireDue();
  void RouteRecord(const Record& record);
  void Commit(size_t index);
  void EndSlotsDue();
  void EndSlot(uint8_t channel);

  // Steps 3 to 6 of a context switch, without halting anything. Takes no number of a trigger, which would tell others
  // of it.
  void Flush(uint8_t channel);
  void AwaitAcknowledgements();

  // Which sources the switched units of a channel count.
  uint8_t SelectOf(uint8_t slice) const;
  void Select(uint8_t channel, uint8_t select);
  void Connect(uint8_t channel, uint8_t select);

  void FlushOut(SwitchStepEvent& event);
  void MoveIn(SwitchStepEvent& event);
  void Step(SwitchStep step, SwitchStepEvent& event, const std::function<void()>& action);

  bool HasPendingBookmark(uint8_t slice) const;
  void ServeBookmarks();
  void ServeAtSwitchOut(const std::optional<Binding>& from);

  // Tells the clock domains of a trigger: the newest of `count` numbers taken now.
  void SendTrigger(uint32_t count, std::optional<TriggerCause> cause);
  void AddReturn(const Record& record);

  const PipelineConfig config_;
  Selections selections_;
  Residents residents_;
  ChipUnits units_;
  ChipChannels channels_;
  TriggerBlock triggers_;
  std::optional<ChipRotation> rotation_;
  LiveCounts live_;
  GuestAccess guests_;
  BookmarkRings bookmarks_;
  std::optional<ClockNetwork> network_;  // with domains
  // Records and acknowledgements that have left the channel buffer since the last switch began.
  uint64_t records_ = 0;
  uint32_t acknowledgements_ = 0;
  SwitchTracer tracer_;
  ChipStats stats_;  // values that no block counts itself
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_CHIP_H_

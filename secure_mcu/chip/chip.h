// SPDX-License-Identifier: Apache-2.0
//
// The whole counter pipeline, wired as in the block diagram. Only this class connects the blocks.
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
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/uuid.h"
#include "secure_mcu/chip/chip_parts.h"
#include "secure_mcu/chip/clock_network.h"
#include "secure_mcu/chip/hpc_read_path.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/chip/rotation_turns.h"
#include "secure_mcu/chip/selections.h"
#include "secure_mcu/chip/switch_step.h"
#include "secure_mcu/pipeline/arbiter.h"
#include "secure_mcu/pipeline/clock_packets.h"
#include "secure_mcu/pipeline/counter_collection_unit.h"
#include "secure_mcu/pipeline/counter_gate.h"
#include "secure_mcu/pipeline/guest_gate.h"
#include "secure_mcu/pipeline/memory_blocks.h"
#include "secure_mcu/pipeline/mmu.h"
#include "secure_mcu/pipeline/reduction_channel.h"
#include "secure_mcu/pipeline/trigger_block.h"
#include "secure_mcu/pipeline/unit_level_counter.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

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

  MemoryBlocks& memory() { return memory_; }
  const MemoryBlocks& memory() const { return memory_; }
  // The roots of the slices' channels. A context switch points the channel to the resident's pages and binds the table
  // of its VM. With another root here, or other entries in memory().page_tables(), commits fault: the root until the
  // next switch, an entry until it is mapped again.
  Mmu& mmu() { return mmu_; }

  // Gives each slice a host block. From now on a slice without a resident is in host mode instead of paused: its units
  // count, and its counts are committed to its host block. With kWhileBound it does while SwitchTo has bound it to that
  // block, Binding{.vm = host_block(slice)}. To be called once, while no slice has a resident, and for the default
  // after every slice got its wires.
  void CreateHostBlocks(HostTime time = HostTime::kWithoutResident);
  // The slice's host block; CreateHostBlocks was called.
  BlockId host_block(uint8_t slice) const { return hosts_.of(slice); }

  // The counts committed by the out-of-band channel so far, without those of private VMs; zeros if the chip has no such
  // channel.
  std::span<const uint64_t> out_of_band() const { return out_of_band_.counters(0); }

  // Sets the wires of a slice, or of the device-scope units (kDeviceChannel), from now on. The wires must have the
  // clock domains of the units, hold the cycles from kUlcHistoryCycles before now() up to the next AdvanceTo, and live
  // until the next Attach.
  void Attach(uint8_t channel, const sim::WireSource& wires);

  // All reference cycles below now() have been counted.
  uint64_t now() const { return now_; }
  // The device's reference clock at now(), nanoseconds since cycle 0.
  uint64_t ReferenceTimeNs() const;
  // The reference time of the last commit of a slice's channel, or of the hypervisor's (kDeviceChannel), whether or not
  // that commit had counts.
  uint64_t CommittedNs(uint8_t channel) const;
  // Counts all reference cycles below `cycle`; has no effect if `cycle` is below now(). Every slice and the
  // device-scope units must have wires.
  void AdvanceTo(uint64_t cycle);
  // Counts the cycles of other clock domains that the wires hold beyond those of now(). They belong to reference cycle
  // now() and are credited to its residents (docs/decisions/0006).
  void AdvanceWithinCycle();

  // Replaces the resident of the slice by `to` at now(), in the eleven steps of a context switch; nullopt leaves the
  // slice idle, or to its host block. Returns the cost of the steps in cycles.
  uint64_t SwitchTo(uint8_t slice, std::optional<Binding> to);
  const std::optional<Binding>& resident(uint8_t slice) const { return bound_[slice]; }
  // Calls `tracer` after every step of every switch from now on.
  void TraceSwitches(SwitchTracer tracer) { tracer_ = std::move(tracer); }

  // A VM exit: the hypervisor runs on the slice, whose resident stays bound; and the entry with which the resident
  // runs again. From `cycle` on, which is at least now() and may be told ahead of the next switch, other groups of
  // counters are open (counter_gate.h); nothing is flushed, and no counter moves. Without effect on an idle slice, in
  // the mode already, and on a chip without groups. A context switch makes an exit first and an entry last. Each halts
  // its slice for gate_cycles (PipelineConfig), which take no cycle of the watched units.
  void Exit(uint8_t slice, uint64_t cycle);
  void Enter(uint8_t slice, uint64_t cycle);
  // Control blocks. Gates take note of them at exits, entries and switches, and in ShowGate; useren, whether programs
  // of users may read by registers while the VM is resident, and is_private take effect at the next switch.
  VmControl& vm_control(BlockId vm) { return vm_controls_[vm]; }
  ContextControl& context_control(BlockId context) { return context_controls_[context]; }
  bool has_gates() const { return !gates_.empty(); }
  uint32_t slices() const { return config_.slices; }
  // The gate of a slice; the chip must have groups.
  CounterGate& gate(uint8_t slice) { return gates_.gate(slice); }
  // Lets what was written to the slice's gate, or to control blocks, take effect from now() on. An idle slice takes its
  // host's value.
  void ShowGate(uint8_t slice);

  // What the supervisor of the slice's resident VM reads and writes at now() to choose what is counted of its VM
  // (registers.md, "What is counted"); the whole register. To be called while the VM runs in guest mode. A write acts
  // from the next cycle on: at once if the VM's control block has guest_access, else by an exit and an entry, between
  // which the firmware does it. Without groups the registers are absent.
  uint64_t ReadGuestGate(uint8_t slice, GateRegister which);
  void WriteGuestGate(uint8_t slice, GateRegister which, uint64_t word);
  // The slice has a resident, and is not in host mode.
  bool RunsGuest(uint8_t slice) const;

  // The choices of VmControl::selection, which takes effect at the next switch. Without selections it has no
  // effect; a number beyond them selects nothing.
  const std::vector<mailbox::EventSet>& selections() const { return selections_.sets(); }
  // INVALID_ARGUMENT as SelectableEvents::Check.
  absl::Status CheckSelections(std::span<const mailbox::EventSet> sets) const { return selections_.Check(sets); }
  // Replaces them by sets that have passed the check, for residents at once, whose control blocks are read again. All
  // is flushed: right after Latch, at the same cycle. An event that stays selected loses no count.
  void SetSelections(std::vector<mailbox::EventSet> sets);

  // Counter rotation (rotation_turns.h). Without a rotation in the configuration, or without an event that turns, it is
  // absent.
  bool has_rotation() const { return rotation_.has_value(); }
  // Its plans, and what is chosen of them and learnt; residencies and slots are the chip's own. Only with a rotation.
  RotationTurns& rotation() { return *rotation_; }
  const RotationTurns& rotation() const { return *rotation_; }
  uint32_t events() const { return config_.events; }
  // Checks the settings of a plan that is asked for; INVALID_ARGUMENT as CheckRequestedSettings (rotation_rules.h).
  absl::Status CheckRotationSettings(const mailbox::RotationSettings& settings) const;
  // Makes a plan, and returns its number, which must be chosen at once. INVALID_ARGUMENT as PlanCounters,
  // and where events of a gate group of `pinned` would take turns; RESOURCE_EXHAUSTED beyond `sets_max` or the limits
  // of a device. Then it has no effect.
  absl::StatusOr<uint16_t> PlanRotation(const PlanWishes& wishes, const mailbox::RotationSettings& settings,
                                        size_t sets_max = mailbox::kRotationSetsMax, uint64_t pinned = 0);
  // The identity by which the order of the VM's turns is drawn; nil until then. To be called before it is resident.
  void NameVm(BlockId vm, const Uuid& uuid) { vm_uuids_[vm] = uuid; }
  // Whether the VM is confidential: its turns are then equal, of one length, and nothing is learnt of it. From its next
  // residency on.
  void SetConfidential(BlockId vm, bool is_confidential) { confidential_[vm] = is_confidential; }
  // Whether anything can be learnt of the VM and its contexts: not of a confidential one, nor without the event of
  // instructions.
  bool CanLearnRotation(BlockId vm) const;
  // The numbers of a block at the last Latch, or at the last call of ShowEndedSlots; none without a rotation.
  mailbox::BlockRotation RotationOf(BlockId block) const;
  // Whether events of a resident of the block take turns now. Only with a rotation.
  bool TakesTurns(BlockId block) const;
  // Without a latch: the numbers are as of the end of each channel's last slot.
  void ShowEndedSlots();

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

  // Adds to sums[i] what the block's counter of events[i] would be after a latch at now(): what is committed, and what
  // is on its way in the pipeline of every slice that is bound to the block. Nothing is moved, and nothing that follows
  // depends on the call. A counter on the way that has saturated is too low, as it will be once it is committed.
  void AddLiveCounts(BlockId block, std::span<const uint16_t> events, std::span<uint64_t> sums) const;

  // The registers by which residents, and the firmware, read live counts. Accesses are at cycle now().
  HpcReadPath& hpc() { return hpc_; }
  // A write of the slice's resident, at now(), as HpcClient::Write. What a supervisor writes to useren goes to its VM's
  // control block, too, and so holds after later switches of every slice.
  bool WriteHpc(uint8_t slice, HpcRegister which, uint64_t value, HpcPrivilege privilege,
                HpcHalf half = HpcHalf::kWhole);

  // Another thread of the slice's resident begins: as a supervisor's write of `interrupted` that leaves useren, and the
  // supervisor's choice of a context is forgotten. To be called at now(), while there is a resident.
  void SwitchGuestThread(uint8_t slice);

  // All counters of a block at one cycle, as a latch at that cycle would leave them.
  struct LiveBlock {
    uint64_t cycle = 0;
    std::vector<uint64_t> counters;
    uint16_t flags = 0;  // mailbox::BlockFlag: of the block, and of what is on its way to it
  };
  // The firmware's client asks for the block, at the manager of a slice where it is resident, else at the device's. The
  // answer is there once the manager has granted it, after HpcReadPath::NextStop at the latest. A new request replaces
  // one that is not answered.
  void RequestLiveBlock(BlockId block);
  std::optional<LiveBlock> TakeLiveBlock() { return std::exchange(live_block_, std::nullopt); }

  ChipStats stats() const;

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

  // A reduction channel and its periodic commits.
  struct Channel {
    ReductionChannel reduction;
    uint64_t commit_period;  // 0: never
    uint64_t next_commit;
    uint64_t committed = 0;  // cycle of the last commit
  };

  Chip(const PipelineConfig& config, std::vector<CounterCollectionUnit> ccus, std::vector<Unit> units,
       Selections selections);

  static Channel MakeChannel(const PipelineConfig& config, const std::shared_ptr<const EventMeanings>& meanings,
                             uint64_t commit_period);

  void FindClocks();

  uint64_t NanosecondsAt(uint64_t cycle) const;
  uint64_t NextStop(uint64_t cycle) const;
  uint64_t ThresholdStop(uint64_t end) const;
  uint64_t HeldTriggerStop(uint64_t end) const;
  void CountTo(uint64_t cycle);
  void CountUnit(Unit& unit, uint64_t until);
  void FireDueTriggers();
  void FireDue();
  void RouteRecord(const Record& record);

  std::optional<Binding> DestinationOf(uint8_t slice) const { return hosts_.DestinationOf(slice, bound_[slice]); }
  bool IsCounting(uint8_t channel) const;
  void TakeHeld(std::optional<uint8_t> channel);
  void SwapCountingBanks(uint32_t trigger_id);
  void SwapBanks(std::optional<uint8_t> channel, uint32_t trigger_id);
  void RequestFlush(std::optional<uint8_t> channel);
  void AwaitAcknowledgements();
  void Enable(uint8_t channel);
  void Disable(uint8_t channel);

  std::optional<Binding> CommitsTo(uint8_t slice) const {
    return mmu_.Translate(slice, channels_[slice].reduction.target(), memory_);
  }
  bool IsBoundTo(uint8_t slice, BlockId block) const;
  bool Feeds(size_t channel, uint8_t source) const {
    return channel == hypervisor_ ? !private_slices_.Contains(source) : source == channel;
  }
  uint16_t UncommittedFlags(size_t channel) const;
  uint16_t LiveFlags(BlockId block) const;
  void AddUncommitted(size_t channel, std::span<uint64_t> sums) const;
  void AddUncommittedAndDerived(size_t channel, std::span<uint64_t> sums) const;
  void AddLiveDerived(uint8_t channel, std::span<uint64_t> sums) const;
  void AddCollected(const CounterCollectionUnit& ccu, std::span<uint64_t> sums) const;
  void AddHeld(const Unit& unit, std::span<uint64_t> sums) const;
  void AddShare(size_t ccu, size_t counter, uint64_t count, std::span<uint64_t> sums) const;
  void LatchLiveCounts(size_t client, HpcManagerId manager, std::span<const uint16_t> events,
                       std::span<uint64_t> counts);
  BlockId BlockOf(HpcManagerId manager) const;
  HpcManagerId ManagerOf(BlockId block) const;
  GateBinding GateBindingOf(const std::optional<Binding>& binding);
  GuestControls GuestControlsOf(uint8_t slice, GateValue& value);
  ContextControl* ContextControlOf(uint16_t vm, uint16_t context);
  HpcResident HpcResidentOf(const std::optional<Binding>& binding) const;

  // chip_selections.cc
  void Select(uint8_t channel, uint8_t select);
  void Connect(uint8_t channel, uint8_t select);
  void ConnectAll();
  uint8_t SelectOf(uint8_t slice) const;
  uint8_t SelectionOf(const std::optional<Binding>& binding) const;
  bool HasItsSelection(const Record& record) const;
  bool HasItsSelection(const CounterCollectionUnit& ccu) const;

  // Steps 3 to 6 of a context switch, without halting anything. Takes no number of a trigger, which would tell others
  // of it.
  void Flush(uint8_t channel);

  // chip_bookmarks.cc
  bool HasPendingBookmark(uint8_t slice) const;
  void ServeBookmarks();
  void ServeAtSwitchOut(const std::optional<Binding>& from);

  // chip_clocks.cc
  void StartClocks();
  void FindHorizons();
  // The newest of `count` numbers taken now.
  void SendTrigger(uint32_t count, std::optional<TriggerCause> cause);
  void AddReturn(const Record& record);

  // chip_rotation.cc
  bool Turns(uint8_t channel) const { return rotation_ && rotation_->is_on(channel); }
  void StartRotation(const CounterPlan& plan);
  void BeginTurns(uint8_t channel, const std::optional<Binding>& binding);
  void EndTurns(uint8_t slice);
  void EndSlotsDue();
  void EndSlot(uint8_t channel);
  void Derive(uint8_t channel);
  void DeriveAll();
  void ShowTurns();
  void RaiseInconsistency(uint8_t channel);
  RotationInstant InstantOf(uint8_t channel) const;
  RotationLeaf LeafOf(uint8_t slice, const Binding& binding) const;
  RotationLeaf DeviceLeaf() const;
  size_t CommitterOf(uint8_t channel) const { return channel == kDeviceChannel ? hypervisor_ : channel; }

  void Commit(size_t channel);
  void Fault(uint8_t slice);
  void CommitToSlice(uint8_t slice);
  void CommitAll();
  void Rebind(uint8_t slice, const std::optional<Binding>& to);
  void ShowState(const std::optional<Binding>& binding);
  bool IsResident(BlockId block) const;
  bool IsPrivate(const std::optional<Binding>& binding) const;

  void FlushOut(SwitchStepEvent& event);
  void MoveIn(SwitchStepEvent& event);
  void Step(SwitchStep step, SwitchStepEvent& event, const std::function<void()>& action);

  // Constant after construction.
  const PipelineConfig config_;
  const size_t hypervisor_;  // index of its channel and of the device-scope units' wires

  Selections selections_;
  const std::shared_ptr<const EventMeanings> meanings_;  // the selections', shared with the channels

  std::vector<CounterCollectionUnit> ccus_;
  std::vector<Unit> units_;
  UnitClocks clocks_;
  std::vector<std::vector<size_t>> ccu_clocks_;  // of each collection unit's units
  std::vector<Channel> channels_;  // per slice, then the hypervisor's, then the out-of-band one if configured
  RecordMover mover_;
  TriggerBlock triggers_;
  Arbiter arbiter_;
  Mmu mmu_;
  MemoryBlocks memory_;
  MemoryBlocks out_of_band_;  // the microcontroller's own: one block
  HostBlocks hosts_;
  std::vector<std::optional<Binding>> bound_;  // resident of each slice, or HostTime::kWhileBound; nullopt: nobody
  std::vector<const sim::WireSource*> wires_;  // per slice, then the device-scope units'
  // Control blocks, at the addresses that gates are bound to.
  std::map<BlockId, VmControl> vm_controls_;
  std::map<BlockId, ContextControl> context_controls_;
  SliceGates gates_;
  std::map<BlockId, GuestGate> guest_gates_;  // by VM
  PrivateSlices private_slices_;              // as bound_
  uint64_t now_ = 0;
  // Records and acknowledgements that have left the channel buffer since the last switch began.
  uint64_t records_ = 0;
  uint32_t acknowledgements_ = 0;
  std::optional<RotationTurns> rotation_;
  std::map<BlockId, Uuid> vm_uuids_;
  std::map<BlockId, bool> confidential_;
  BookmarkRings bookmarks_;
  std::optional<ClockNetwork> network_;          // with domains
  std::vector<ClockNetwork::Horizon> horizons_;  // by row; scratch
  std::vector<std::optional<size_t>> ccu_rows_;  // by collection unit; none: in the reference clock's domain
  HpcReadPath hpc_;
  BlockId requested_block_ = 0;  // by the firmware
  std::optional<LiveBlock> live_block_;
  SwitchTracer tracer_;
  ChipStats stats_;  // values that no block counts itself
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_CHIP_H_

// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/chip.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/numeric/int128.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

CounterCollectionUnit MakeCcu(const CcuSpec& spec, size_t id, const Selections& selections) {
  return CounterCollectionUnit({.id = static_cast<uint16_t>(id),
                                .channel = spec.channel,
                                .counters = static_cast<uint16_t>((*selections.meanings())[0][id].size()),
                                .mapping = selections.MappingOf(0, id),
                                .threshold = spec.threshold});
}

// By manager: the events of which a slice's units have a counter.
std::vector<uint64_t> SliceEvents(const PipelineConfig& config) {
  std::vector<uint64_t> events(mailbox::kEventsMax / hpc::kCountersPerManager);
  for (const CcuSpec& ccu : config.ccus) {
    if (ccu.channel == kDeviceChannel) continue;
    for (const EventShare& share : AllocateCounters(ccu).meanings) {
      events[share.event / hpc::kCountersPerManager] |= uint64_t{1} << share.event % hpc::kCountersPerManager;
    }
  }
  return events;
}

uint32_t DomainsOf(const PipelineConfig& config) {
  uint32_t domains = 1;
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) domains = std::max(domains, ulc.domain + 1);
  }
  return domains;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Chip>> Chip::Create(const PipelineConfig& config) {
  SIDEBAND_RETURN_IF_ERROR(Validate(config));
  Selections selections(config);
  std::vector<CounterCollectionUnit> ccus;
  std::vector<Unit> units;
  for (size_t c = 0; c < config.ccus.size(); ++c) {
    const CcuSpec& spec = config.ccus[c];
    ccus.push_back(MakeCcu(spec, c, selections));
    for (size_t u = 0; u < spec.ulcs.size(); ++u) {
      units.push_back({.ulc = UnitLevelCounter(CounterConfig(spec.ulcs[u])),
                       .ccu = c,
                       .index = u,
                       .channel = spec.channel,
                       .wiring = spec.channel == kDeviceChannel ? config.slices : spec.channel,
                       .domain = spec.ulcs[u].domain,
                       .is_switched = spec.ulcs[u].is_switched()});
    }
  }
  std::unique_ptr<Chip> chip(new Chip(config, std::move(ccus), std::move(units), std::move(selections)));
  if (!TurningEvents(config).empty()) {
    const bool fill = config.rotation->settings.profile == mailbox::RotationProfile::kFast;
    SIDEBAND_ASSIGN_OR_RETURN(const CounterPlan plan, PlanCounters(config, {.events = {}, .always = {}, .fill = fill}));
    chip->StartRotation(plan);
  }
  return chip;
}

Chip::Channel Chip::MakeChannel(const PipelineConfig& config, const std::shared_ptr<const EventMeanings>& meanings,
                                uint64_t commit_period) {
  return {ReductionChannel(config.events, meanings), commit_period, commit_period == 0 ? kNever : commit_period};
}

Chip::Chip(const PipelineConfig& config, std::vector<CounterCollectionUnit> ccus, std::vector<Unit> units,
           Selections selections)
    : config_(config),
      hypervisor_(config.slices),
      selections_(std::move(selections)),
      meanings_(selections_.meanings()),
      ccus_(std::move(ccus)),
      units_(std::move(units)),
      clocks_(config.slices + 1u),
      ccu_clocks_(ccus_.size()),
      channels_(config.slices, MakeChannel(config, meanings_, config.commit_period)),
      mover_({config.buffer_depth, config.record_cycles, config.route_cycles}, ccus_,
             [this](const Record& record) { RouteRecord(record); }),
      triggers_(config.trigger_period),
      arbiter_(config.grant_cycles),
      mmu_(config.slices),
      memory_(config.events),
      out_of_band_(config.events),
      bound_(config.slices),
      wires_(config.slices + 1),
      gates_(config.slices, config.gate_groups, DomainsOf(config)),
      hpc_(
          {.slices = config.slices, .events = config.events, .timing = config.hpc, .of_residents = SliceEvents(config)},
          [this](size_t client, HpcManagerId manager, std::span<const uint16_t> events, std::span<uint64_t> counts) {
            LatchLiveCounts(client, manager, events, counts);
          }) {
  channels_.push_back(MakeChannel(config, meanings_, config.hypervisor_commit_period));
  if (config.out_of_band_commit_period > 0) {
    channels_.push_back(MakeChannel(config, meanings_, config.out_of_band_commit_period));
  }
  FindClocks();
  // Device-scope units count from the start and are never paused.
  for (Unit& unit : units_) {
    if (unit.channel == kDeviceChannel) unit.ulc.Enable(0);
  }
  ConnectAll();
  StartClocks();
}

void Chip::Attach(uint8_t channel, const sim::WireSource& wires) {
  if (channel == kDeviceChannel) {
    wires_[hypervisor_] = &wires;
    clocks_.Attach(hypervisor_, wires, now_);
  } else {
    wires_[channel] = &gates_.Attach(channel, wires, now_);
    clocks_.Attach(channel, *wires_[channel], now_);
  }
}

uint64_t Chip::NanosecondsAt(uint64_t cycle) const {
  // 128 bits: cycle * 10^9 exceeds 64 bits after 1.8 * 10^10 cycles.
  return absl::Uint128Low64(absl::uint128(cycle) * 1'000'000'000 / config_.clock_hz);
}

uint64_t Chip::ReferenceTimeNs() const { return NanosecondsAt(now_); }

uint64_t Chip::CommittedNs(uint8_t channel) const {
  return NanosecondsAt(channels_[channel == kDeviceChannel ? hypervisor_ : channel].committed);
}

// --- Counting -------------------------------------------------------------------------------------------------------

void Chip::FindClocks() {
  for (Unit& unit : units_) {
    unit.clock = clocks_.Add(unit.wiring, unit.domain);
    std::vector<size_t>& of_ccu = ccu_clocks_[unit.ccu];
    if (std::ranges::find(of_ccu, unit.clock) == of_ccu.end()) of_ccu.push_back(unit.clock);
  }
}

uint64_t Chip::ThresholdStop(uint64_t end) const {
  for (size_t c = 0; c < ccus_.size(); ++c) {
    if (!IsCounting(ccus_[c].config().channel)) continue;
    const uint64_t headroom = ccus_[c].ThresholdHeadroom();
    if (headroom == kNever) continue;
    // The counts of up to kUlcHistoryCycles earlier cycles may be in transit and arrive at once.
    const uint64_t cycles = headroom / std::max(1u, ccus_[c].GainPerCycleMax());
    const uint64_t edges = cycles > kUlcHistoryCycles ? cycles - kUlcHistoryCycles : 1;
    for (const size_t clock : ccu_clocks_[c]) end = clocks_.FirstAfter(clock, edges, end);
  }
  return end;
}

// A held trigger takes what was counted before its cycle, wherever else the chip stops.
uint64_t Chip::HeldTriggerStop(uint64_t end) const {
  for (const CounterCollectionUnit& ccu : ccus_) {
    const uint64_t records = ccu.RecordsUntilHeldTrigger();
    if (records > 0) end = std::min(end, now_ + std::max<uint64_t>(1, (records - 1) * config_.record_cycles));
  }
  return end;
}

uint64_t Chip::NextStop(uint64_t cycle) const {
  uint64_t stop = std::min({cycle, triggers_.next_due(), hpc_.NextStop()});
  if (rotation_) stop = std::min(stop, rotation_->NextEnd());
  for (const Channel& channel : channels_) stop = std::min(stop, channel.next_commit);
  return ThresholdStop(HeldTriggerStop(stop));
}

void Chip::CountUnit(Unit& unit, uint64_t until) {
  unit.counted = std::max(unit.counted, until);
  CounterCollectionUnit& ccu = ccus_[unit.ccu];
  const sim::WireSource& wires = wires_[unit.wiring]->domain(unit.domain);
  if (unit.ulc.AdvanceTo(until, wires, ccu.Input(unit.index))) ccu.Accept(unit.index);
}

void Chip::CountTo(uint64_t cycle) {
  clocks_.AdvanceTo(cycle);
  for (Unit& unit : units_) {
    if (unit.ulc.enabled()) CountUnit(unit, clocks_.edges(unit.clock));
  }
  mover_.RunFor(cycle - now_);
  now_ = cycle;
}

void Chip::FireDueTriggers() {
  const uint32_t before = triggers_.last_id();
  const uint64_t grid = triggers_.fired(TriggerKind::kGrid);
  const auto id = triggers_.FireDue(now_);
  if (!id) return;
  SwapCountingBanks(*id);
  const bool is_grid = triggers_.fired(TriggerKind::kGrid) != grid;
  SendTrigger(*id - before, is_grid ? std::optional(TriggerCause::kGrid) : std::nullopt);
  if (is_grid) ServeBookmarks();
}

void Chip::FireDue() {
  if (hpc_.NextStop() <= now_) hpc_.RunTo(now_);
  for (CounterCollectionUnit& ccu : ccus_) {
    // A threshold trigger swaps the banks of its own unit only.
    if (ccu.ThresholdReached()) ccu.Trigger({.id = triggers_.Fire(TriggerKind::kThreshold)});
  }
  FireDueTriggers();
  for (size_t i = 0; i < channels_.size(); ++i) {
    Channel& channel = channels_[i];
    if (now_ < channel.next_commit) continue;
    Commit(i);
    // On the channel's own grid, however late this commit is.
    channel.next_commit = (now_ / channel.commit_period + 1) * channel.commit_period;
  }
  EndSlotsDue();
}

void Chip::AdvanceTo(uint64_t cycle) {
  // Stops wherever a trigger or a commit may be due, so that each takes effect in its own cycle.
  while (now_ < cycle) {
    CountTo(NextStop(cycle));
    FireDue();
  }
}

void Chip::AdvanceWithinCycle() {
  for (Unit& unit : units_) {
    if (unit.domain != 0 && unit.ulc.enabled()) CountUnit(unit, wires_[unit.wiring]->CyclesHeld(unit.domain, now_));
  }
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    if (IsCounting(slice)) gates_.PassWithinCycle(slice, now_);
  }
  // The reference clock may be stopped for long. Records are moved to the end first, so that a trigger that fires now
  // finds the idle bank sent.
  mover_.RunUntil([] { return false; });
  FireDue();
}

uint32_t Chip::Trigger(TriggerKind kind) {
  const uint32_t id = triggers_.Fire(kind);
  SwapCountingBanks(id);
  SendTrigger(1, kind == TriggerKind::kExternal ? TriggerCause::kExternal : TriggerCause::kOnce);
  return id;
}

void Chip::SwapCountingBanks(uint32_t trigger_id) {
  for (CounterCollectionUnit& ccu : ccus_) {
    if (IsCounting(ccu.config().channel)) ccu.Trigger({.id = trigger_id});
  }
}

// Triggers of an idle slice are paused.
bool Chip::IsCounting(uint8_t channel) const {
  return channel == kDeviceChannel || bound_[channel].has_value() || hosts_.counts_idle();
}

void Chip::RouteRecord(const Record& record) {
  if (record.flush_ack) {
    ++acknowledgements_;
    return triggers_.Acknowledge(record.ccu);
  }
  ++records_;
  if (network_ && network_->collects()) AddReturn(record);
  if (!HasItsSelection(record)) return Fault(record.channel);
  if (record.channel != kDeviceChannel) channels_[record.channel].reduction.Add(record);
  // The device-wide channels add the records of every slice whose resident is not private.
  if (private_slices_.Contains(record.channel)) return;
  for (size_t i = hypervisor_; i < channels_.size(); ++i) channels_[i].reduction.Add(record);
}

// --- Commits --------------------------------------------------------------------------------------------------------

void Chip::Commit(size_t channel) {
  // Also without data: the blocks are complete as of now.
  channels_[channel].committed = now_;
  ReductionChannel& reduction = channels_[channel].reduction;
  if (!reduction.HasData()) return;
  arbiter_.Grant(mover_.now());
  if (rotation_ && channel <= hypervisor_) {
    const uint8_t of = channel == hypervisor_ ? kDeviceChannel : static_cast<uint8_t>(channel);
    rotation_->Saturate(of, reduction.reduction().saturated);
    rotation_->AddCounts(of, reduction.reduction().counts);
  }
  if (channel < hypervisor_) {
    CommitToSlice(static_cast<uint8_t>(channel));
  } else {
    (channel == hypervisor_ ? memory_ : out_of_band_).AtomicAdd(0, reduction.reduction(), ReferenceTimeNs());
  }
  reduction.Clear();
}

void Chip::CommitToSlice(uint8_t slice) {
  const Reduction& reduction = channels_[slice].reduction.reduction();
  if (const auto to = CommitsTo(slice)) {
    memory_.AtomicAdd(to->vm, reduction, ReferenceTimeNs());
    if (to->context) memory_.AtomicAdd(*to->context, reduction, ReferenceTimeNs());
    return;
  }
  Fault(slice);
}

void Chip::Fault(uint8_t slice) {
  ++stats_.mmu_faults;
  const std::optional<Binding> meant = DestinationOf(slice);
  // The device's counts are no longer the sum of its VMs', unless they never had these.
  if (!private_slices_.Contains(slice)) memory_.RaiseFlags(0, mailbox::kFlagMmuFault);
  if (meant) memory_.RaiseFlags(meant->vm, mailbox::kFlagMmuFault);
  if (meant && meant->context) memory_.RaiseFlags(*meant->context, mailbox::kFlagMmuFault);
}

// Channel and MMU together: between the two, a commit would fault.
void Chip::Rebind(uint8_t slice, const std::optional<Binding>& to) {
  const auto target = to ? std::optional(memory_.TargetOf(*to)) : std::nullopt;
  channels_[slice].reduction.PointTo(target);
  mmu_.SetRoot(slice, target ? memory_.page_tables().RootOf(target->space) : std::nullopt);
}

void Chip::CommitAll() {
  for (size_t channel = 0; channel < channels_.size(); ++channel) Commit(channel);
}

// --- Flush and latch ------------------------------------------------------------------------------------------------

void Chip::TakeHeld(std::optional<uint8_t> channel) {
  for (Unit& unit : units_) {
    if (!unit.ulc.enabled() || (channel && unit.channel != *channel)) continue;
    CounterCollectionUnit& ccu = ccus_[unit.ccu];
    unit.ulc.TakeHeld(wires_[unit.wiring]->domain(unit.domain), ccu.Input(unit.index));
    ccu.Accept(unit.index);
  }
}

void Chip::SwapBanks(std::optional<uint8_t> channel, uint32_t trigger_id) {
  for (CounterCollectionUnit& ccu : ccus_) {
    if (channel && ccu.config().channel != *channel) continue;
    if (IsCounting(ccu.config().channel)) ccu.Trigger({.id = trigger_id, .flush = true});
  }
}

void Chip::RequestFlush(std::optional<uint8_t> channel) {
  for (CounterCollectionUnit& ccu : ccus_) {
    if ((channel && ccu.config().channel != *channel) || !IsCounting(ccu.config().channel)) continue;
    triggers_.RequestFlush(ccu.config().id);
    ccu.RequestFlush();
  }
}

void Chip::AwaitAcknowledgements() {
  mover_.RunUntil([this] { return triggers_.AllAcknowledged(); });
}

void Chip::Flush(uint8_t channel) {
  TakeHeld(channel);
  SwapBanks(channel, triggers_.last_id());
  RequestFlush(channel);
  AwaitAcknowledgements();
  Derive(channel);
  Commit(CommitterOf(channel));
}

uint32_t Chip::Latch(bool leaves_packets) {
  const uint32_t id = triggers_.Fire(TriggerKind::kRegisterWrite);
  // Before the banks are swapped: what unit-level counters hold belongs to the records of this trigger.
  TakeHeld(std::nullopt);
  SwapBanks(std::nullopt, id);
  RequestFlush(std::nullopt);
  AwaitAcknowledgements();
  DeriveAll();
  CommitAll();
  ShowTurns();
  SendTrigger(1, leaves_packets ? std::optional(TriggerCause::kLatch) : std::nullopt);
  return id;
}

// --- Exits and entries -----------------------------------------------------------------------------------------------

// Nothing is flushed: what units hold is counted for the cycles in which it occurred.
void Chip::Exit(uint8_t slice, uint64_t cycle) {
  if (gates_.empty() || !gates_.gate(slice).in_guest()) return;
  gates_.Exit(slice, cycle, now_);
  if (rotation_) rotation_->Stop(slice, cycle);
  ++stats_.exits;
  stats_.gate_cycles += config_.gate_cycles;
}

void Chip::Enter(uint8_t slice, uint64_t cycle) {
  if (gates_.empty() || gates_.gate(slice).in_guest() || !hosts_.HasResident(bound_[slice])) return;
  gates_.Enter(slice, cycle, now_);
  if (rotation_) rotation_->Resume(slice, cycle);
  ++stats_.entries;
  stats_.gate_cycles += config_.gate_cycles;
}

void Chip::ShowGate(uint8_t slice) {
  if (hosts_.HasResident(bound_[slice])) {
    gates_.Show(slice, now_);
  } else {
    gates_.Bind(slice, {}, now_);
  }
}

GateBinding Chip::GateBindingOf(const std::optional<Binding>& binding) {
  if (!hosts_.HasResident(binding)) return {};
  return {.vm = &vm_controls_[binding->vm],
          .context = binding->context ? &context_controls_[*binding->context] : nullptr};
}

// --- Context switch -------------------------------------------------------------------------------------------------

void Chip::Enable(uint8_t channel) {
  for (Unit& unit : units_) {
    if (unit.channel != channel) continue;
    // Cycles that AdvanceWithinCycle credited to the previous resident are not counted again.
    unit.ulc.Enable(std::max(unit.counted, clocks_.edges(unit.clock)));
  }
}

void Chip::CreateHostBlocks(HostTime time) {
  hosts_.Create(memory_, config_.slices, time);
  if (!hosts_.counts_idle()) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    Rebind(slice, DestinationOf(slice));
    BeginTurns(slice, DestinationOf(slice));
    Select(slice, SelectOf(slice));
    Enable(slice);
  }
}

void Chip::Disable(uint8_t channel) {
  for (Unit& unit : units_) {
    if (unit.channel == channel) unit.ulc.Disable();
  }
}

void Chip::Step(SwitchStep step, SwitchStepEvent& event, const std::function<void()>& action) {
  // Records of all slices keep moving while a step takes its cycles.
  mover_.RunFor(config_.switch_step_cycles);
  if (action) action();
  if (!tracer_) return;
  event.step = step;
  event.pipeline_cycle = mover_.now();
  event.records = records_;
  event.acknowledgements = acknowledgements_;
  tracer_(event);
}

// The eleven steps of pipeline.md, "Context switch". The slice is halted: no countable cycle passes, and no periodic
// trigger or transfer occurs during the switch. Halting (step 1) therefore needs no action, and pausing (step 2) only
// withdraws what the resident asked for.
uint64_t Chip::SwitchTo(uint8_t slice, std::optional<Binding> to) {
  const uint64_t start = mover_.now(), start_of_gates = stats_.gate_cycles;
  Exit(slice, now_);
  records_ = acknowledgements_ = 0;
  SwitchStepEvent event{
      .switch_number = ++stats_.switches, .slice = slice, .cycle = now_, .from = bound_[slice], .to = to};
  Step(SwitchStep::kHalt, event, nullptr);
  Step(SwitchStep::kPause, event, [this, slice] { hpc_.Switch(slice, {}, now_); });
  FlushOut(event);
  MoveIn(event);
  Enter(slice, now_);
  const uint64_t cost = mover_.now() - start + stats_.gate_cycles - start_of_gates;
  stats_.switch_cycles += cost;
  stats_.switch_cycles_max = std::max(stats_.switch_cycles_max, cost);
  return cost;
}

// If the slice is idle, nothing moves. The flush trigger takes no number of its own: numbers are visible to every
// tenant and must not reveal how often other tenants are switched.
void Chip::FlushOut(SwitchStepEvent& event) {
  const uint8_t slice = event.slice;
  Step(SwitchStep::kTrigger, event, [this, slice] {
    TakeHeld(slice);
    SwapBanks(slice, triggers_.last_id());
  });
  Step(SwitchStep::kFlushRequest, event, [this, slice] { RequestFlush(slice); });
  Step(SwitchStep::kEmit, event, [this] { AwaitAcknowledgements(); });
  Step(SwitchStep::kCommit, event, [this, slice, &event] {
    Derive(slice);
    Commit(slice);
    EndTurns(slice);
    ServeAtSwitchOut(event.from);
    Disable(slice);
  });
}

// The poll finds all acknowledgements received, since the records have been sent. Counters are clear, and a period
// starts when they are unpaused.
void Chip::MoveIn(SwitchStepEvent& event) {
  const uint8_t slice = event.slice;
  Step(SwitchStep::kRebind, event, [this, slice, &event] {
    bound_[slice] = event.to;
    private_slices_.Bind(slice, IsPrivate(event.to));
    Rebind(slice, DestinationOf(slice));
  });
  Step(SwitchStep::kPoll, event, [this] { AwaitAcknowledgements(); });
  Step(SwitchStep::kRestore, event, [this, slice, &event] {
    hpc_.Switch(slice, HpcResidentOf(event.to), now_);
    BeginTurns(slice, DestinationOf(slice));
    Select(slice, SelectOf(slice));
    gates_.Bind(slice, GateBindingOf(event.to), now_);
    ShowState(event.from);
    ShowState(event.to);
    hosts_.ShowState(slice, event.to, memory_);
  });
  Step(SwitchStep::kUnpause, event, [this, slice] {
    if (IsCounting(slice)) Enable(slice);
  });
  Step(SwitchStep::kRun, event, nullptr);
}

bool Chip::IsPrivate(const std::optional<Binding>& binding) const {
  if (!binding) return false;
  const auto control = vm_controls_.find(binding->vm);
  return control != vm_controls_.end() && control->second.is_private;
}

bool Chip::IsResident(BlockId block) const {
  return std::any_of(bound_.begin(), bound_.end(), [block](const std::optional<Binding>& bound) {
    return bound && (bound->vm == block || bound->context == block);
  });
}

void Chip::ShowState(const std::optional<Binding>& binding) {
  if (!binding) return;
  memory_.SetActive(binding->vm, IsResident(binding->vm));
  if (binding->context) memory_.SetActive(*binding->context, IsResident(*binding->context));
}

ChipStats Chip::stats() const {
  ChipStats stats = stats_;
  stats.periodic_triggers = triggers_.fired(TriggerKind::kPeriodic);
  stats.written_triggers = triggers_.fired(TriggerKind::kRegisterWrite);
  stats.external_triggers = triggers_.fired(TriggerKind::kExternal);
  stats.grid_triggers = triggers_.fired(TriggerKind::kGrid);
  stats.threshold_triggers = triggers_.fired(TriggerKind::kThreshold);
  for (const CounterCollectionUnit& ccu : ccus_) stats.trigger_overruns += ccu.trigger_overruns();
  stats.stall_cycles = mover_.stall_cycles();
  stats.buffer_high_water = mover_.buffer_high_water();
  stats.commits = arbiter_.grants();
  stats.commit_wait_cycles = arbiter_.wait_cycles();
  stats.rotation_inconsistencies = rotation_ ? rotation_->inconsistencies() : 0;
  return stats;
}

}  // namespace sideband::mcu

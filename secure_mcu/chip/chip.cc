// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/chip.h"

#include <algorithm>
#include <array>
#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::mcu {

absl::string_view SwitchStepName(SwitchStep step) {
  constexpr std::array<const char*, kSwitchSteps> kNames = {
      "halt", "pause", "trigger", "flush_request", "emit", "commit", "rebind", "poll", "restore", "unpause", "run"};
  return kNames[static_cast<size_t>(step) - 1];
}

absl::StatusOr<std::unique_ptr<Chip>> Chip::Create(const PipelineConfig& config) {
  SIDEBAND_RETURN_IF_ERROR(Validate(config));
  std::unique_ptr<Chip> chip(new Chip(config, Selections(config)));
  if (TurningEvents(config).empty()) return chip;
  const bool fill = config.rotation->settings.profile == mailbox::RotationProfile::kFast;
  SIDEBAND_ASSIGN_OR_RETURN(const CounterPlan plan, PlanCounters(config, {.events = {}, .always = {}, .fill = fill}));
  chip->rotation_.emplace(
      RotatedParts{chip->config_, chip->selections_, chip->units_, chip->channels_, chip->residents_}, plan);
  chip->rotation_->Begin(kDeviceChannel);
  if (chip->rotation_->Turns(kDeviceChannel)) {
    chip->Select(kDeviceChannel, chip->rotation_->turns().select(kDeviceChannel));
  }
  return chip;
}

Chip::Chip(const PipelineConfig& config, Selections selections)
    : config_(config),
      selections_(std::move(selections)),
      residents_(config.slices),
      units_(config_, selections_, residents_, [this](const Record& record) { RouteRecord(record); }),
      channels_(config_, selections_.meanings(), residents_),
      triggers_(config.trigger_period),
      live_({config_, units_, channels_, residents_, rotation_}),
      guests_({config_, selections_, units_, channels_, residents_, rotation_, live_.hpc()}) {
  if (!selections_.empty()) {
    for (uint8_t slice = 0; slice < config_.slices; ++slice) Connect(slice, channels_.mmu().selection(slice));
  }
  if (!config_.domains.empty()) network_.emplace(config_);
}

void Chip::Attach(uint8_t channel, const sim::WireSource& wires) {
  units_.Attach(channel, channel == kDeviceChannel ? wires : guests_.Attach(channel, wires));
}

// --- Counting ------------------------------------------------------------------------------------------------------

uint64_t Chip::NextStop(uint64_t cycle) const {
  uint64_t stop = std::min({cycle, triggers_.next_due(), live_.NextStop(), channels_.NextCommit()});
  if (rotation_) stop = std::min(stop, rotation_->turns().NextEnd());
  return units_.NextStop(stop);
}

void Chip::FireDueTriggers() {
  const uint32_t before = triggers_.last_id();
  const uint64_t grid = triggers_.fired(TriggerKind::kGrid);
  const auto id = triggers_.FireDue(now());
  if (!id) return;
  units_.SwapBanks(*id);
  const bool is_grid = triggers_.fired(TriggerKind::kGrid) != grid;
  SendTrigger(*id - before, is_grid ? std::optional(TriggerCause::kGrid) : std::nullopt);
  if (is_grid) ServeBookmarks();
}

void Chip::FireDue() {
  if (live_.NextStop() <= now()) live_.hpc().RunTo(now());
  units_.FireThresholds(triggers_);
  FireDueTriggers();
  for (size_t i = 0; i < channels_.size(); ++i) {
    if (!channels_.IsDue(i, now())) continue;
    Commit(i);
    channels_.ScheduleNext(i, now());
  }
  EndSlotsDue();
}

void Chip::AdvanceTo(uint64_t cycle) {
  // Stops wherever a trigger or a commit may be due, so that each takes effect in its own cycle.
  while (now() < cycle) {
    units_.CountTo(NextStop(cycle));
    FireDue();
  }
}

void Chip::AdvanceWithinCycle() {
  units_.CountWithinCycle();
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    if (residents_.IsCounting(slice)) guests_.PassWithinCycle(slice);
  }
  FireDue();
}

uint32_t Chip::Trigger(TriggerKind kind) {
  const uint32_t id = triggers_.Fire(kind);
  units_.SwapBanks(id);
  SendTrigger(1, kind == TriggerKind::kExternal ? TriggerCause::kExternal : TriggerCause::kOnce);
  return id;
}

void Chip::RouteRecord(const Record& record) {
  if (record.flush_ack) {
    ++acknowledgements_;
    return triggers_.Acknowledge(record.ccu);
  }
  ++records_;
  if (network_ && network_->collects()) AddReturn(record);
  channels_.Add(record);
}

void Chip::Commit(size_t index) {
  if (rotation_) rotation_->AddCounts(index);
  channels_.Commit(index, now(), units_.mover().now());
}

// --- Flush and latch -----------------------------------------------------------------------------------------------

void Chip::AwaitAcknowledgements() {
  units_.mover().RunUntil([this] { return triggers_.AllAcknowledged(); });
}

void Chip::Flush(uint8_t channel) {
  units_.TakeHeld(channel);
  units_.SwapBanksToFlush(channel, triggers_.last_id());
  units_.RequestFlush(channel, triggers_);
  AwaitAcknowledgements();
  if (rotation_) rotation_->Derive(channel);
  Commit(channels_.IndexOf(channel));
}

uint32_t Chip::Latch(bool leaves_packets) {
  const uint32_t id = triggers_.Fire(TriggerKind::kRegisterWrite);
  // Before the banks are swapped: what unit-level counters hold belongs to the records of this trigger.
  units_.TakeHeld(std::nullopt);
  units_.SwapBanksToFlush(std::nullopt, id);
  units_.RequestFlush(std::nullopt, triggers_);
  AwaitAcknowledgements();
  if (rotation_) rotation_->DeriveAll();
  for (size_t i = 0; i < channels_.size(); ++i) Commit(i);
  if (rotation_) rotation_->Show();
  SendTrigger(1, leaves_packets ? std::optional(TriggerCause::kLatch) : std::nullopt);
  return id;
}

// --- Slots of a rotation -------------------------------------------------------------------------------------------

void Chip::EndSlotsDue() {
  if (!rotation_ || rotation_->turns().NextEnd() > now()) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    while (rotation_->turns().EndOf(slice) <= now()) EndSlot(slice);
  }
  while (rotation_->turns().EndOf(kDeviceChannel) <= now()) EndSlot(kDeviceChannel);
}

// The units count on, under the next set.
void Chip::EndSlot(uint8_t channel) {
  const uint64_t start = units_.mover().now();
  Flush(channel);
  rotation_->EndSlot(channel);
  Select(channel, rotation_->turns().select(channel));
  ++stats_.slot_ends;
  stats_.slot_cycles += units_.mover().now() - start;
}

// --- Selections ----------------------------------------------------------------------------------------------------

// The select of a resident is that of its VM's control block, or of its turn.
uint8_t Chip::SelectOf(uint8_t slice) const {
  if (rotation_ && rotation_->Turns(slice)) return rotation_->turns().select(slice);
  return selections_.empty() ? 0 : guests_.ControlOf(residents_.of(slice)).selection;
}

// All records of a slice carry its selection, also those of units that are never switched.
void Chip::Select(uint8_t channel, uint8_t select) {
  if (channel != kDeviceChannel) channels_.mmu().BindSelection(channel, select);
  if (units_.Select(channel, select)) Connect(channel, select);
}

void Chip::Connect(uint8_t channel, uint8_t select) {
  units_.Connect(channel, select);
  if (channel != kDeviceChannel) guests_.Select(channel, select);
}

void Chip::SetSelections(std::vector<mailbox::EventSet> sets) {
  selections_.Set(std::move(sets));
  if (selections_.empty()) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    const uint8_t select = SelectOf(slice);
    Select(slice, select);
    Connect(slice, select);
    guests_.ReadControls(slice);
  }
}

// --- Context switch ------------------------------------------------------------------------------------------------

void Chip::CreateHostBlocks(HostTime time) {
  residents_.CreateHosts(memory(), time);
  if (!residents_.counts_idle()) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    channels_.Rebind(slice);
    if (rotation_) rotation_->Begin(slice);
    Select(slice, SelectOf(slice));
    units_.Enable(slice);
  }
}

void Chip::Step(SwitchStep step, SwitchStepEvent& event, const std::function<void()>& action) {
  // Records of all slices keep moving while a step takes its cycles.
  units_.mover().RunFor(config_.switch_step_cycles);
  if (action) action();
  if (!tracer_) return;
  event.step = step;
  event.pipeline_cycle = units_.mover().now();
  event.records = records_;
  event.acknowledgements = acknowledgements_;
  tracer_(event);
}

// The eleven steps of pipeline.md, "Context switch". The slice is halted: no countable cycle passes, and no periodic
// trigger or transfer occurs during the switch. Halting (step 1) therefore needs no action, and pausing (step 2) only
// withdraws what the resident asked for.
uint64_t Chip::SwitchTo(uint8_t slice, std::optional<Binding> to) {
  const uint64_t start = units_.mover().now(), start_of_gates = guests_.gate_cycles();
  guests_.Exit(slice, now());
  records_ = acknowledgements_ = 0;
  SwitchStepEvent event{
      .switch_number = ++stats_.switches, .slice = slice, .cycle = now(), .from = residents_.of(slice), .to = to};
  Step(SwitchStep::kHalt, event, nullptr);
  Step(SwitchStep::kPause, event, [this, slice] { live_.hpc().Switch(slice, {}, now()); });
  FlushOut(event);
  MoveIn(event);
  guests_.Enter(slice, now());
  const uint64_t cost = units_.mover().now() - start + guests_.gate_cycles() - start_of_gates;
  stats_.switch_cycles += cost;
  stats_.switch_cycles_max = std::max(stats_.switch_cycles_max, cost);
  return cost;
}

// If the slice is idle, nothing moves. The flush trigger takes no number of its own: numbers are visible to every
// tenant and must not reveal how often other tenants are switched.
void Chip::FlushOut(SwitchStepEvent& event) {
  const uint8_t slice = event.slice;
  Step(SwitchStep::kTrigger, event, [this, slice] {
    units_.TakeHeld(slice);
    units_.SwapBanksToFlush(slice, triggers_.last_id());
  });
  Step(SwitchStep::kFlushRequest, event, [this, slice] { units_.RequestFlush(slice, triggers_); });
  Step(SwitchStep::kEmit, event, [this] { AwaitAcknowledgements(); });
  Step(SwitchStep::kCommit, event, [this, slice, &event] {
    if (rotation_) rotation_->Derive(slice);
    Commit(slice);
    if (rotation_) rotation_->End(slice);
    ServeAtSwitchOut(event.from);
    units_.Disable(slice);
  });
}

// The poll finds all acknowledgements received, since the records have been sent. Counters are clear, and a period
// starts when they are unpaused.
void Chip::MoveIn(SwitchStepEvent& event) {
  const uint8_t slice = event.slice;
  Step(SwitchStep::kRebind, event, [this, slice, &event] {
    residents_.Bind(slice, event.to, guests_.ControlOf(event.to).is_private);
    channels_.Rebind(slice);
  });
  Step(SwitchStep::kPoll, event, [this] { AwaitAcknowledgements(); });
  Step(SwitchStep::kRestore, event, [this, slice, &event] {
    guests_.BindHpc(slice);
    if (rotation_) rotation_->Begin(slice);
    Select(slice, SelectOf(slice));
    guests_.Bind(slice);
    residents_.ShowState(slice, event.from, memory());
  });
  Step(SwitchStep::kUnpause, event, [this, slice] {
    if (residents_.IsCounting(slice)) units_.Enable(slice);
  });
  Step(SwitchStep::kRun, event, nullptr);
}

// --- Bookmarks (clocks.md) -----------------------------------------------------------------------------------------

void Chip::AskBookmark(BlockId block, uint32_t bookmark) {
  bookmarks_.Ask(block, {.bookmark = bookmark, .asked_ns = ReferenceTimeNs()});
}

void Chip::SetTriggerGrid(uint64_t period) {
  triggers_.SetGrid(period, now());
  if (!triggers_.has_grid()) ServeBookmarks();
}

bool Chip::HasPendingBookmark(uint8_t slice) const {
  const std::optional<Binding>& bound = residents_.of(slice);
  return bound && (bookmarks_.IsPending(bound->vm) || (bound->context && bookmarks_.IsPending(*bound->context)));
}

// The counts of a block that is not resident are final since its switch-out.
void Chip::ServeBookmarks() {
  if (bookmarks_.pending().empty()) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    if (HasPendingBookmark(slice)) Flush(slice);
  }
  while (!bookmarks_.pending().empty()) {
    const BlockId block = bookmarks_.pending().begin()->first;
    bookmarks_.Serve(block, ReferenceTimeNs(), memory().counters(block));
  }
}

// The slice has been flushed.
void Chip::ServeAtSwitchOut(const std::optional<Binding>& from) {
  if (!from || !from->context || !bookmarks_.IsPending(*from->context)) return;
  bookmarks_.Serve(*from->context, ReferenceTimeNs(), memory().counters(*from->context));
}

// --- Clock domains -------------------------------------------------------------------------------------------------

void Chip::SendTrigger(uint32_t count, std::optional<TriggerCause> cause) {
  if (!network_) return;
  const auto horizons = cause ? units_.FindHorizons(*network_) : std::span<const ClockNetwork::Horizon>();
  network_->Send(
      {.number = triggers_.last_id(), .count = count, .cause = cause, .cycle = now(), .time_ns = ReferenceTimeNs()},
      horizons);
}

sim::Instant Chip::StepClock(uint32_t domain, uint64_t hz) {
  units_.ForgetClocks();
  return network_->StepClock(domain, now(), hz);
}

void Chip::AddReturn(const Record& record) {
  const std::optional<size_t> row = network_->RowOf(record.ccu);
  if (!row) return;
  ReturnPacket packet{.number = record.trigger_id, .unit = record.ccu};
  for (uint16_t i = 0; i < record.size; ++i) {
    const EventShare& share = units_.meanings()[record.select][record.ccu][record.first + i];
    packet.counts.push_back({share.event, uint64_t{record.counts[i]} << share.shift});
  }
  network_->AddCounts(*row, packet);
}

ChipStats Chip::stats() const {
  ChipStats stats = stats_;
  stats.periodic_triggers = triggers_.fired(TriggerKind::kPeriodic);
  stats.written_triggers = triggers_.fired(TriggerKind::kRegisterWrite);
  stats.external_triggers = triggers_.fired(TriggerKind::kExternal);
  stats.grid_triggers = triggers_.fired(TriggerKind::kGrid);
  stats.threshold_triggers = triggers_.fired(TriggerKind::kThreshold);
  stats.trigger_overruns = units_.trigger_overruns();
  stats.stall_cycles = units_.mover().stall_cycles();
  stats.buffer_high_water = units_.mover().buffer_high_water();
  stats.commits = channels_.arbiter().grants();
  stats.commit_wait_cycles = channels_.arbiter().wait_cycles();
  stats.mmu_faults = channels_.faults();
  stats.exits = guests_.exits();
  stats.entries = guests_.entries();
  stats.gate_cycles = guests_.gate_cycles();
  stats.rotation_inconsistencies = rotation_ ? rotation_->turns().inconsistencies() : 0;
  return stats;
}

}  // namespace sideband::mcu

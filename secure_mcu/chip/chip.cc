// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/chip.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/numeric/int128.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

// Gives each distinct (event, shift) of a collection unit one counter.
class CounterAllocator {
 public:
  uint16_t CounterFor(const CounterInput& input) {
    if (input.masked) return CounterCollectionUnit::kMasked;
    const auto [entry, is_new] =
        counters_.try_emplace({input.meaning.event, input.meaning.shift}, static_cast<uint16_t>(meanings_.size()));
    if (is_new) meanings_.push_back(input.meaning);
    return entry->second;
  }
  std::vector<EventShare> TakeMeanings() { return std::move(meanings_); }

 private:
  std::map<std::pair<uint16_t, uint8_t>, uint16_t> counters_;
  std::vector<EventShare> meanings_;
};

CounterCollectionUnit MakeCcu(const CcuSpec& spec, size_t id, EventMeanings& meanings) {
  CounterAllocator allocator;
  CounterCollectionUnit::Config config{
      .id = static_cast<uint16_t>(id), .channel = spec.channel, .threshold = spec.threshold};
  for (const UlcSpec& ulc : spec.ulcs) {
    std::vector<uint16_t>& mapping = config.mapping.emplace_back();
    for (const CounterInput& input : ulc.inputs) mapping.push_back(allocator.CounterFor(input));
  }
  meanings.push_back(allocator.TakeMeanings());
  config.counters = static_cast<uint16_t>(meanings.back().size());
  return CounterCollectionUnit(std::move(config));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Chip>> Chip::Create(const PipelineConfig& config) {
  SIDEBAND_RETURN_IF_ERROR(Validate(config));
  auto meanings = std::make_shared<EventMeanings>();
  std::vector<CounterCollectionUnit> ccus;
  std::vector<Unit> units;
  for (size_t c = 0; c < config.ccus.size(); ++c) {
    const CcuSpec& spec = config.ccus[c];
    ccus.push_back(MakeCcu(spec, c, *meanings));
    for (size_t u = 0; u < spec.ulcs.size(); ++u) {
      units.push_back({.ulc = UnitLevelCounter(CounterConfig(spec.ulcs[u])),
                       .ccu = c,
                       .index = u,
                       .channel = spec.channel,
                       .values = std::vector<uint64_t>(spec.ulcs[u].inputs.size())});
    }
  }
  return std::unique_ptr<Chip>(new Chip(config, std::move(ccus), std::move(units), std::move(meanings)));
}

Chip::Chip(const PipelineConfig& config, std::vector<CounterCollectionUnit> ccus, std::vector<Unit> units,
           std::shared_ptr<const EventMeanings> meanings)
    : config_(config),
      ccus_(std::move(ccus)),
      units_(std::move(units)),
      channels_(config.slices + 1, ReductionChannel(config.events, std::move(meanings))),
      mover_({config.buffer_depth, config.record_cycles, config.route_cycles}, ccus_,
             [this](const Record& record) { RouteRecord(record); }),
      triggers_(config.trigger_period),
      arbiter_(config.grant_cycles),
      mmu_(config.slices),
      memory_(config.events),
      bound_(config.slices),
      wires_(config.slices + 1),
      next_commit_(config.commit_period == 0 ? kNever : config.commit_period) {
  Enable(kDeviceChannel);
}

void Chip::Attach(uint8_t channel, const sim::WireSource& wires) {
  wires_[channel == kDeviceChannel ? config_.slices : channel] = &wires;
}

uint64_t Chip::ReferenceTimeNs() const {
  return absl::Uint128Low64(absl::uint128(now_) * 1'000'000'000 / config_.clock_hz);
}

// --- Counting on ----------------------------------------------------------------------------------------------------

uint64_t Chip::ThresholdStop() const {
  uint64_t stop = kNever;
  for (const Unit& unit : units_) {
    if (!unit.ulc.enabled()) continue;
    const CounterCollectionUnit& ccu = ccus_[unit.ccu];
    const uint64_t headroom = ccu.ThresholdHeadroom();
    if (headroom == kNever) continue;
    // A unit-level counter holds less than two periods; what it holds may arrive at once.
    const uint64_t cycles = headroom / std::max(1u, ccu.GainPerCycleMax());
    const uint64_t held = 2 * kUlcPeriodMax;
    stop = std::min(stop, now_ + (cycles > held ? cycles - held : 1));
  }
  return stop;
}

uint64_t Chip::NextStop(uint64_t cycle) const {
  return std::min({cycle, triggers_.next_periodic(), next_commit_, ThresholdStop()});
}

void Chip::CountTo(uint64_t cycle) {
  for (Unit& unit : units_) {
    if (!unit.ulc.enabled()) continue;
    const size_t source = unit.channel == kDeviceChannel ? config_.slices : unit.channel;
    unit.ulc.AdvanceTo(cycle, *wires_[source], unit.values);
    ccus_[unit.ccu].Add(unit.index, unit.values);
  }
  now_ = cycle;
}

void Chip::FireDue() {
  for (CounterCollectionUnit& ccu : ccus_) {
    if (!ccu.ThresholdReached()) continue;
    ccu.Trigger({.id = triggers_.last_id()});
    ++stats_.threshold_triggers;
  }
  if (now_ >= triggers_.next_periodic()) {
    triggers_.PassPeriodic(now_);
    TriggerAll();
  }
  if (now_ >= next_commit_) {
    CommitAll();
    next_commit_ = (now_ / config_.commit_period + 1) * config_.commit_period;
  }
}

void Chip::AdvanceTo(uint64_t cycle) {
  while (now_ < cycle) {
    CountTo(NextStop(cycle));
    mover_.RunTo(now_);
    FireDue();
  }
}

void Chip::TriggerAll() {
  const uint32_t id = triggers_.NextId();
  for (CounterCollectionUnit& ccu : ccus_) {
    if (IsCounting(ccu.config().channel)) ccu.Trigger({.id = id});
  }
}

// Triggers of a slice on which nobody is are paused.
bool Chip::IsCounting(uint8_t channel) const { return channel == kDeviceChannel || bound_[channel].has_value(); }

void Chip::RouteRecord(const Record& record) {
  if (record.flush_ack) return triggers_.Acknowledge(record.ccu);
  channels_.back().Add(record);
  if (record.channel != kDeviceChannel) channels_[record.channel].Add(record);
}

// --- Commits --------------------------------------------------------------------------------------------------------

void Chip::Commit(size_t channel) {
  ReductionChannel& reduction = channels_[channel];
  if (!reduction.HasData()) return;
  arbiter_.Grant(mover_.now());
  if (channel == config_.slices) {
    memory_.AtomicAdd(0, reduction.reduction(), ReferenceTimeNs());
  } else if (const auto& to = bound_[channel]; to && mmu_.Translates(channel, *to)) {
    memory_.AtomicAdd(to->vm, reduction.reduction(), ReferenceTimeNs());
    if (to->context) memory_.AtomicAdd(*to->context, reduction.reduction(), ReferenceTimeNs());
  } else {
    ++stats_.mmu_faults;
    memory_.RaiseFlags(0, mailbox::kFlagMmuFault);  // the device's sum is no longer that of its VMs
    if (to) memory_.RaiseFlags(to->vm, mailbox::kFlagMmuFault);
    if (to && to->context) memory_.RaiseFlags(*to->context, mailbox::kFlagMmuFault);
  }
  reduction.Clear();
}

void Chip::CommitAll() {
  for (size_t channel = 0; channel < channels_.size(); ++channel) Commit(channel);
}

// --- Flush, latch, context switch -----------------------------------------------------------------------------------

uint64_t Chip::Flush(std::optional<uint8_t> channel, uint32_t trigger_id) {
  for (Unit& unit : units_) {
    if (channel && unit.channel != *channel) continue;
    unit.ulc.TakeHeld(*wires_[unit.channel == kDeviceChannel ? config_.slices : unit.channel], unit.values);
    ccus_[unit.ccu].Add(unit.index, unit.values);
  }
  for (CounterCollectionUnit& ccu : ccus_) {
    if ((channel && ccu.config().channel != *channel) || !IsCounting(ccu.config().channel)) continue;
    ccu.Trigger({.id = trigger_id, .flush = true});
    triggers_.RequestFlush(ccu.config().id);
    ccu.RequestFlush();
  }
  return mover_.RunUntil([this] { return triggers_.AllAcknowledged(); });
}

uint32_t Chip::Latch() {
  const uint32_t id = triggers_.NextId();
  Flush(std::nullopt, id);
  CommitAll();
  return id;
}

void Chip::Enable(uint8_t channel) {
  for (Unit& unit : units_) {
    if (unit.channel == channel) unit.ulc.Enable(now_);
  }
}

void Chip::Disable(uint8_t channel) {
  for (Unit& unit : units_) {
    if (unit.channel == channel) unit.ulc.Disable();
  }
}

// The eleven steps of pipeline.md, "Context switch". Steps 1 and 11, halting and running the context, are the caller's:
// no cycle passes in here. Step 2, pausing the periodic transfers and triggers, needs nothing more for the same reason.
uint64_t Chip::SwitchTo(uint8_t slice, std::optional<Binding> to) {
  uint64_t cost = uint64_t{config_.switch_step_cycles} * 11;
  if (bound_[slice]) {
    // 3 trigger, 4 flush request, 5 records and acknowledgements, 8 poll. The trigger takes no number of its own: the
    // numbers are shown to every tenant, and must not tell how often others are switched.
    cost += Flush(slice, triggers_.last_id());
    Commit(slice);  // 6
    Disable(slice);
  }
  bound_[slice] = to;  // 7, and the MMU with it
  mmu_.Bind(slice, to);
  if (to) Enable(slice);  // 9 and 10: counters are clear, a period starts
  UpdateStates();
  ++stats_.switches;
  stats_.switch_cycles += cost;
  stats_.switch_cycles_max = std::max(stats_.switch_cycles_max, cost);
  return cost;
}

void Chip::UpdateStates() {
  for (BlockId block = 1; block < memory_.size(); ++block) memory_.SetState(block, mailbox::BlockState::kIdle);
  for (const auto& binding : bound_) {
    if (!binding) continue;
    memory_.SetState(binding->vm, mailbox::BlockState::kActive);
    if (binding->context) memory_.SetState(*binding->context, mailbox::BlockState::kActive);
  }
}

ChipStats Chip::stats() const {
  ChipStats stats = stats_;
  stats.triggers = triggers_.last_id();
  for (const CounterCollectionUnit& ccu : ccus_) stats.trigger_overruns += ccu.trigger_overruns();
  stats.stall_cycles = mover_.stall_cycles();
  stats.buffer_high_water = mover_.buffer_high_water();
  stats.commits = arbiter_.grants();
  stats.commit_wait_cycles = arbiter_.wait_cycles();
  return stats;
}

}  // namespace sideband::mcu

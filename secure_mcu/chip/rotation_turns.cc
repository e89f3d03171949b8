// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_turns.h"

#include <algorithm>

namespace sideband::mcu {
namespace {

constexpr uint16_t kSlicePlan = 0, kDevicePlan = 1;

mailbox::EventSet ConnectedIn(const CounterPlan& plan, size_t set, size_t events) {
  mailbox::EventSet connected = mailbox::EmptySet(events);
  for (size_t event = 0; event < events; ++event) {
    if (plan.Counts(set, event)) mailbox::Insert(event, connected);
  }
  return connected;
}

std::vector<mailbox::EventSet> ConnectedBy(const CounterPlan& plan, const PipelineConfig& config) {
  std::vector<mailbox::EventSet> connected;
  for (size_t set = 0; set < plan.sets.size(); ++set) connected.push_back(ConnectedIn(plan, set, config.events));
  connected.resize(mailbox::kRotationSetsMax, mailbox::EmptySet(config.events));
  connected.push_back(config.rotation->fixed);
  return connected;
}

std::vector<size_t> IndicesOf(const RotationTable& table, const std::vector<uint16_t>& events) {
  std::vector<size_t> indices;
  for (const RotatedEvent& event : table.events) {
    indices.push_back(std::ranges::lower_bound(events, event.event) - events.begin());
  }
  return indices;
}

}  // namespace

RotationTurns::RotationTurns(const PipelineConfig& config, const RotationSeed& seed, CounterPlan plan)
    : spec_(*config.rotation),
      seed_(seed),
      plan_(std::move(plan)),
      lines_(config),
      events_(TurningEvents(config)),
      connected_(ConnectedBy(plan_, config)),
      turns_(config.slices + 1),
      numbers_(events_.size()) {
  for (uint32_t channel = 0; channel <= config.slices; ++channel) {
    const bool is_device = channel == config.slices;
    tables_.push_back(std::make_shared<RotationTable>(config, lines_,
                                                      is_device ? kDeviceChannel : static_cast<uint8_t>(channel), plan_,
                                                      is_device ? kDevicePlan : kSlicePlan));
    indices_.push_back(IndicesOf(*tables_.back(), events_));
    turns_[channel].counts.resize(config.events);
  }
}

RotationTurns::Life& RotationTurns::FindLife(uint8_t channel, const RotationLeaf& leaf) {
  const auto& table = tables_[&TurnOf(channel) - turns_.data()];
  const std::pair key(leaf.block, channel);
  const auto found = lives_.find(key);
  if (found != lives_.end() && found->second.generation == leaf.generation) return found->second;
  Life life{.generation = leaf.generation,
            .life = RotationLife(table, RotationOrder(seed_, leaf.identity, table->sets())),
            .shown = {}};
  if (found != lives_.end()) lives_.erase(found);
  return lives_.emplace(key, std::move(life)).first->second;
}

void RotationTurns::Begin(uint8_t channel, const RotationLeaf& leaf, const RotationInstant& at) {
  Turn& turn = TurnOf(channel);
  if (tables_[&turn - turns_.data()]->events.empty()) return;
  turn.leaf = leaf;
  turn.life = &FindLife(channel, leaf);
  turn.life->life.BeginResidency();
  turn.clock.Start(at.cycle);
  turn.slot_begin = 0;
  BeginSlot(turn, at);
}

void RotationTurns::BeginSlot(Turn& turn, const RotationInstant& at) {
  turn.begin = turn.alive = at;
  // One set is always in turn: nothing ever turns.
  turn.is_dead = spec_.dead_cycles > 0 && plan_.sets.size() > 1;
  std::ranges::fill(turn.counts, 0);
  turn.dead_gates.assign(lines_.running_events.size(), 0);
}

uint8_t RotationTurns::select(uint8_t channel) const {
  const Turn& turn = TurnOf(channel);
  if (turn.is_dead) return kDeadSelect;
  return static_cast<uint8_t>(kTurnSelectFirst + turn.life->life.set());
}

uint64_t RotationTurns::PhaseEnd(const Turn& turn) const {
  if (turn.is_dead) return turn.slot_begin + spec_.dead_cycles;
  if (plan_.sets.size() == 1) return OwnClock::kNever;
  return turn.slot_begin + spec_.settings.fluctuating_slot;
}

uint64_t RotationTurns::EndOf(uint8_t channel) const {
  const Turn& turn = TurnOf(channel);
  return turn.life == nullptr ? OwnClock::kNever : turn.clock.CycleOf(PhaseEnd(turn));
}

uint64_t RotationTurns::NextEnd() const {
  uint64_t end = OwnClock::kNever;
  for (const Turn& turn : turns_) {
    if (turn.life != nullptr) end = std::min(end, turn.clock.CycleOf(PhaseEnd(turn)));
  }
  return end;
}

void RotationTurns::AddCounts(uint8_t channel, std::span<const uint64_t> counts) {
  Turn& turn = TurnOf(channel);
  if (turn.life == nullptr) return;
  for (size_t event = 0; event < counts.size(); ++event) turn.counts[event] += counts[event];
}

// After a flush, so that the counts of the gates' cycles are complete.
SlotLengths RotationTurns::LengthsAt(const Turn& turn, const RotationInstant& at) const {
  SlotLengths lengths{.enabled = {at.cycle - turn.begin.cycle}, .running = {at.cycle - turn.alive.cycle}};
  for (size_t group = 0; group < lines_.running_events.size(); ++group) {
    const auto& event = lines_.running_events[group];
    lengths.running.push_back(event ? turn.counts[*event] : 0);
    lengths.enabled.push_back(lengths.running.back() + turn.dead_gates[group]);
  }
  for (size_t domain = 0; domain < at.domains.size(); ++domain) {
    lengths.enabled.push_back(at.domains[domain] - turn.begin.domains[domain]);
    lengths.running.push_back(at.domains[domain] - turn.alive.domains[domain]);
  }
  if (turn.is_dead) std::ranges::fill(lengths.running, 0);
  return lengths;
}

void RotationTurns::Derive(uint8_t channel, const RotationInstant& at, std::span<const uint64_t> pending,
                           std::span<uint64_t> gained) {
  Turn& turn = TurnOf(channel);
  if (turn.life == nullptr || turn.is_dead) return;
  std::vector<uint64_t> counts = turn.counts;
  for (size_t event = 0; event < pending.size(); ++event) counts[event] += pending[event];
  turn.life->life.Derive(LengthsAt(turn, at), counts, gained);
}

void RotationTurns::EndSlot(uint8_t channel, const RotationInstant& at) {
  Turn& turn = TurnOf(channel);
  const bool is_whole = turn.clock.Before(at.cycle) == PhaseEnd(turn);
  if (turn.is_dead && is_whole) {
    for (size_t group = 0; group < lines_.running_events.size(); ++group) {
      const auto& event = lines_.running_events[group];
      if (event) turn.dead_gates[group] = turn.counts[*event];
    }
    std::ranges::fill(turn.counts, 0);
    turn.alive = at;
    turn.is_dead = false;
    return;
  }
  turn.life->life.EndSlot(LengthsAt(turn, at), turn.counts, is_whole);
  turn.slot_begin = turn.clock.Before(at.cycle);
  turn.clock.Forget(at.cycle);
  BeginSlot(turn, at);
}

bool RotationTurns::EndResidency(uint8_t channel, const RotationInstant& at) {
  Turn& turn = TurnOf(channel);
  // A slot in its dead cycles has ended without a running one: what fixed events gained is of no slot.
  const SlotLengths lengths = LengthsAt(turn, at);
  if (turn.is_dead) std::ranges::fill(turn.counts, 0);
  turn.life->life.EndSlot(lengths, turn.counts, /*is_whole=*/false);
  turn.life->life.EndResidency();
  ShowNumbers(turn, {});
  turn.clock.End();
  return std::exchange(turn.life, nullptr)->life.inconsistent();
}

void RotationTurns::Show(uint8_t channel, const RotationInstant& at) {
  Turn& turn = TurnOf(channel);
  if (turn.life != nullptr) ShowNumbers(turn, LengthsAt(turn, at));
}

void RotationTurns::ShowNumbers(Turn& turn, const SlotLengths& open) {
  const size_t channel = &turn - turns_.data();
  const RotationTable& table = turn.life->life.table();
  LeafNumbers now = turn.life->life.Show(open, turn.counts);
  numbers_.Add(turn.leaf.block, turn.leaf.generation, table.number, turn.life->shown, now, indices_[channel]);
  for (const auto& [block, generation] : turn.leaf.others) {
    numbers_.Add(block, generation, table.number, turn.life->shown, now, indices_[channel]);
  }
  turn.life->shown = std::move(now);
}

}  // namespace sideband::mcu

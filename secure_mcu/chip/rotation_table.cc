// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_table.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace sideband::mcu {
namespace {

using InputVisitor = std::function<void(const CcuSpec&, const UlcSpec&, const CounterInput&)>;

void ForEachInput(const PipelineConfig& config, const InputVisitor& visit) {
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) {
      for (const CounterInput& input : ulc.inputs) {
        if (!input.masked) visit(ccu, ulc, input);
      }
    }
  }
}

uint64_t GainOf(const CounterInput& input) {
  if (input.digits > 0) return (uint64_t{1} << input.digits) - 1;
  return kGainScale << input.meaning.shift;
}

void AddGain(size_t line, uint64_t gain, std::vector<LineGain>& gains) {
  const auto found = std::ranges::find(gains, line, &LineGain::line);
  if (found != gains.end()) {
    found->per_cycle += gain;
  } else {
    gains.push_back({line, gain});
  }
}

std::vector<size_t> SetsWith(const CounterPlan& plan, uint16_t event) {
  std::vector<size_t> sets;
  for (size_t set = 0; set < plan.sets.size(); ++set) {
    if (mailbox::Includes(plan.sets[set], event)) sets.push_back(set);
  }
  return sets;
}

uint64_t BitsOf(const std::vector<size_t>& sets) {
  uint64_t bits = 0;
  for (const size_t set : sets) bits |= uint64_t{1} << set;
  return bits;
}

// The events of a relation are of one scope.
bool IsOfScope(const mailbox::Relation& relation, const std::vector<bool>& of_device, uint8_t channel) {
  return of_device[relation.members.front()] == (channel == kDeviceChannel);
}

std::vector<mailbox::Relation> RelationsOf(const PipelineConfig& config, uint8_t channel) {
  std::vector<mailbox::Relation> relations = config.relations;
  const std::vector<bool> of_device = DeviceEvents(config);
  std::erase_if(relations, [&](const auto& relation) { return !IsOfScope(relation, of_device, channel); });
  return relations;
}

// Without what other channels derive; indices of relations are among RelationsOf.
CounterPlan PlanOf(CounterPlan plan, const PipelineConfig& config, uint8_t channel) {
  const std::vector<bool> of_device = DeviceEvents(config);
  std::vector<DerivedEvent> derived;
  for (const DerivedEvent& each : plan.derived) {
    if (of_device[each.event] != (channel == kDeviceChannel)) continue;
    const auto first = config.relations.begin();
    const auto before = std::count_if(first, first + static_cast<std::ptrdiff_t>(each.relation),
                                      [&](const auto& r) { return IsOfScope(r, of_device, channel); });
    derived.push_back({each.event, static_cast<size_t>(before)});
  }
  plan.derived = std::move(derived);
  return plan;
}

bool IsRelated(uint16_t event, const std::vector<mailbox::Relation>& relations) {
  return std::ranges::any_of(relations, [event](const mailbox::Relation& relation) {
    const bool is_whole = relation.kind != mailbox::Relation::Kind::kCycles && relation.whole == event;
    return is_whole || std::ranges::find(relation.members, event) != relation.members.end();
  });
}

}  // namespace

std::vector<bool> DeviceEvents(const PipelineConfig& config) {
  std::vector<bool> of_device(config.events);
  ForEachInput(config, [&](const CcuSpec& ccu, const UlcSpec&, const CounterInput& input) {
    if (ccu.channel == kDeviceChannel) of_device[input.meaning.event] = true;
  });
  return of_device;
}

std::vector<uint16_t> TurningEvents(const PipelineConfig& config) {
  std::vector<uint16_t> events;
  if (!config.rotation) return events;
  ForEachInput(config, [&](const CcuSpec&, const UlcSpec& ulc, const CounterInput& input) {
    const bool is_fixed = mailbox::Includes(config.rotation->fixed, input.meaning.event);
    if (ulc.is_switched() && !is_fixed) events.push_back(input.meaning.event);
  });
  std::ranges::sort(events);
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

uint64_t GroupsInTurns(const PipelineConfig& config, const CounterPlan& plan) {
  const std::vector<uint16_t> turning = TurningEvents(config);
  uint64_t groups = 0;
  ForEachInput(config, [&](const CcuSpec&, const UlcSpec&, const CounterInput& input) {
    if (!input.group || !std::ranges::binary_search(turning, input.meaning.event)) return;
    const bool is_always = std::ranges::all_of(
        plan.sets, [&](const mailbox::EventSet& set) { return mailbox::Includes(set, input.meaning.event); });
    if (!is_always) groups |= uint64_t{1} << *input.group;
  });
  return groups;
}

RotationLines::RotationLines(const PipelineConfig& config) : running_events(config.gate_groups.size()) {
  ForEachInput(config, [&](const CcuSpec&, const UlcSpec& ulc, const CounterInput& input) {
    domains = std::max(domains, ulc.domain + 1);
    if (input.group && input.wire == kGatedClockWire) running_events[*input.group] = input.meaning.event;
  });
}

RotationTable::RotationTable(const PipelineConfig& config, const RotationLines& all_lines, uint8_t channel,
                             const TurnPlan& turn_plan)
    : number(turn_plan.number),
      plan(PlanOf(turn_plan.counters, config, channel)),
      settings(turn_plan.settings),
      lines(all_lines),
      members(plan.sets.size()),
      turns(config.events),
      gains(config.events),
      relations(RelationsOf(config, channel)) {
  const std::vector<bool> of_device = DeviceEvents(config);
  const auto& told = config.rotation->instructions;
  if (told && of_device[*told] == (channel == kDeviceChannel)) instructions = told;
  for (const uint16_t event : TurningEvents(config)) {
    turns[event] = true;
    if (of_device[event] != (channel == kDeviceChannel)) continue;
    for (const size_t set : SetsWith(plan, event)) members[set].push_back(events.size());
    if (IsRelated(event, relations)) related.push_back(events.size());
    events.push_back({.event = event, .sets = BitsOf(SetsWith(plan, event)), .gains = {}});
  }
  ForEachInput(config, [&](const CcuSpec& ccu, const UlcSpec& ulc, const CounterInput& input) {
    if (ccu.channel == channel) AddInput(ulc, input);
  });
}

void RotationTable::AddInput(const UlcSpec& ulc, const CounterInput& input) {
  // A gated event gains nothing beyond its gate's open cycles, which are known of the reference clock only.
  const bool is_gated = input.group.has_value() && ulc.domain == 0;
  const size_t line = is_gated ? 1 + *input.group : lines.LineOf(ulc.domain);
  const uint16_t event = input.meaning.event;
  gains[event].line = line;
  gains[event].per_cycle += GainOf(input);
  const auto rotated = std::ranges::find(events, event, &RotatedEvent::event);
  if (rotated == events.end()) return;
  AddGain(line, GainOf(input), rotated->gains);
  if (input.group) rotated->line = 1 + *input.group;
  if (input.digits > 0) ++rotated->accumulators;
}

}  // namespace sideband::mcu

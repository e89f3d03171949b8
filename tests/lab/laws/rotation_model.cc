// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/laws/rotation_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace sideband::mcu {
namespace {

constexpr double kFraction = 65536;

// Two units: one whose events take turns, and one that counts the instructions.
PipelineConfig ConfigOf(const ModelSpec& spec) {
  const auto events = static_cast<uint16_t>(spec.rates.size());
  PipelineConfig config{.slices = 1, .events = events + 1u};
  UlcSpec turning{.name = "turning", .inputs = {}, .counters = static_cast<uint32_t>(events / spec.sets)};
  for (uint16_t event = 0; event < events; ++event) {
    turning.inputs.push_back({.wire = event, .meaning = {event, kModelGainBits}});
  }
  UlcSpec always{.name = "always", .inputs = {{.wire = events, .meaning = {events, kModelGainBits}}}};
  config.ccus = {{.name = "ccu", .channel = 0, .ulcs = {turning, always}}};
  config.rotation.emplace();
  config.rotation->settings = spec.settings;
  if (spec.instructions) config.rotation->instructions = events;
  return config;
}

std::shared_ptr<const RotationTable> TableOf(const ModelSpec& spec) {
  const PipelineConfig config = ConfigOf(spec);
  TurnPlan plan{.counters = *PlanCounters(config, {}), .settings = spec.settings};
  return std::make_shared<RotationTable>(config, RotationLines(config), 0, plan);
}

std::vector<uint64_t> TotalsOf(const ModelRate& rate, const std::vector<uint64_t>& residencies) {
  std::vector<uint64_t> totals = {0};
  for (const uint64_t length : residencies) {
    for (uint64_t within = 0; within < length; ++within) {
      const uint64_t gain = rate ? rate({.own = totals.size() - 1, .within = within}) : 0;
      totals.push_back(totals.back() + std::min(gain, kModelGain));
    }
  }
  return totals;
}

}  // namespace

RotationModel::RotationModel(const ModelSpec& spec)
    : residencies_(spec.residencies), has_instructions_(spec.instructions != nullptr), table_(TableOf(spec)) {
  for (const ModelRate& rate : spec.rates) totals_.push_back(TotalsOf(rate, residencies_));
  totals_.push_back(TotalsOf(spec.instructions, residencies_));
}

std::vector<uint64_t> RotationModel::CountsIn(uint64_t begin, uint64_t end) const {
  std::vector<uint64_t> counts;
  for (const auto& totals : totals_) counts.push_back(totals[end] - totals[begin]);
  return counts;
}

ModelResult RotationModel::Play(uint64_t seed, bool is_confidential) const {
  const RotationOrder order(SeedOf(seed), {.uuid = {}, .vm = 1, .context = 0, .generation = 1}, table_->sets());
  RotationLife life(table_, order, {.sets = table_->sets(), .is_confidential = is_confidential});
  ModelResult result{.events = std::vector<ModelResult::Event>(table_->events.size()),
                     .turns = std::vector<uint64_t>(table_->sets())};
  uint64_t own = 0;
  for (const uint64_t length : residencies_) {
    life.BeginResidency();
    for (const uint64_t end = own + length; own < end;) {
      const uint64_t slot = std::min(life.slot_cycles(), end - own);
      const std::vector<uint64_t> counts = CountsIn(own, own + slot);
      ++result.turns[life.set()];
      for (size_t i = 0; i < result.events.size(); ++i) {
        if (!table_->events[i].IsIn(life.set())) continue;
        result.events[i].counted += counts[i];
        ++result.events[i].slots;
      }
      const bool is_whole = slot == life.slot_cycles();
      life.EndSlot({.enabled = {slot}, .running = {slot}, .own = slot}, counts, is_whole);
      own += slot;
    }
    life.EndResidency();
  }
  const LeafNumbers numbers = life.Show({}, {});
  for (size_t i = 0; i < result.events.size(); ++i) {
    ModelResult::Event& event = result.events[i];
    event.sum = static_cast<double>(life.Sum(i)) / kFraction;
    event.shown = static_cast<double>(numbers.events[i].estimate);
    event.upper = static_cast<double>(numbers.events[i].upper);
    event.deviation = std::sqrt(static_cast<double>(numbers.events[i].variance));
  }
  return result;
}

}  // namespace sideband::mcu

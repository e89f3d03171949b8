// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/laws/rotation_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <utility>

namespace sideband::mcu {
namespace {

constexpr double kFraction = 65536;

// Two units: one whose events are multiplexed, and one that counts the instructions.
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

constexpr uint64_t kSlot = 64;
constexpr size_t kSets = 8, kEvents = 4;  // a set
constexpr uint64_t kSeeds = 40;
constexpr uint64_t kSlots = 8192;

struct Mix {
  std::string name;
  bool is_mixed = true;
  // The rate of an event of a set.
  std::function<ModelRate(size_t set, uint64_t seed)> rate;
};

std::vector<Mix> Mixes() {
  const auto bursts_in = [](size_t sets) {
    return [sets](size_t set, uint64_t seed) { return set < sets ? Bursts(seed, 2 * kSlot, 60) : Noise(seed, 16); };
  };
  return {
      {"bursts in 1 set of 8", true, bursts_in(1)},
      {"bursts in 2 sets of 8", true, bursts_in(2)},
      {"bursts in 4 sets of 8", true, bursts_in(4)},
      {"ever shorter bursts", true,
       [](size_t set, uint64_t seed) { return Bursts(seed, std::max<uint64_t>(kSlot >> set, 1), 200); }},
      {"ever rarer bursts", true, [](size_t set, uint64_t seed) { return Bursts(seed, kSlot, 600 >> set); }},
      {"noise in all", false, [](size_t, uint64_t seed) { return Noise(seed, 16); }},
      {"bursts in all", false, [](size_t, uint64_t seed) { return Bursts(seed, 2 * kSlot, 60); }},
      {"even in all", false, [](size_t, uint64_t) { return [](const ModelCycle&) { return uint64_t{8}; }; }},
      {"one bursty event in each set", false,
       [](size_t, uint64_t seed) { return seed % kEvents == 0 ? Bursts(seed, kSlot, 100) : Noise(seed, 16); }},
  };
}

Widths Summarize(std::vector<double> widths) {
  Widths all;
  for (const double width : widths) all.mean += width * width;
  all.mean = std::sqrt(all.mean / static_cast<double>(widths.size()));
  std::ranges::sort(widths);
  all.median = (widths[widths.size() / 2 - 1] + widths[widths.size() / 2]) / 2;
  return all;
}

Widths Measure(const Mix& mix, bool adapt, const std::vector<uint64_t>& residencies) {
  ModelSpec spec;
  spec.sets = kSets, spec.residencies = residencies;
  spec.settings.stable_slot = spec.settings.fluctuating_slot = kSlot;
  spec.settings.adapt = adapt;
  for (size_t event = 0; event < kSets * kEvents; ++event) spec.rates.push_back(mix.rate(event / kEvents, event));
  const RotationModel model(spec);
  std::vector<double> widths(spec.rates.size());
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const ModelResult result = model.Play(seed);
    for (size_t i = 0; i < widths.size(); ++i) widths[i] += 1.96 * result.events[i].deviation / model.truth(i) / kSeeds;
  }
  return Summarize(std::move(widths));
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

// The finalizer of SplitMix64.
uint64_t Scatter(uint64_t seed, uint64_t n) {
  uint64_t value = seed * 0x9E37'79B9'7F4A'7C15 + (n + 1) * 0xD1B5'4A32'D192'ED03;
  value = (value ^ value >> 30) * 0xBF58'476D'1CE4'E5B9;
  value = (value ^ value >> 27) * 0x94D0'49BB'1331'11EB;
  return value ^ value >> 31;
}

ModelRate Noise(uint64_t seed, uint64_t mean) {
  return [seed, mean](const ModelCycle& at) { return Scatter(seed, at.own) % (2 * mean + 1); };
}

ModelRate Bursts(uint64_t seed, uint64_t span, uint64_t per_mille) {
  return [seed, span, per_mille](const ModelCycle& at) {
    return Scatter(seed, at.own / span) % 1000 < per_mille ? kModelGain : 0;
  };
}

std::vector<ModelWorkload> AllWorkloads(uint64_t slot, size_t sets) {
  const uint64_t round = slot * sets;
  const auto one_in = [](uint64_t seed, uint64_t n) {
    return [seed, n](const ModelCycle& at) { return uint64_t{Scatter(seed, at.own) % n == 0}; };
  };
  const auto wave = [](double period, double mean) {
    return [period, mean](const ModelCycle& at) {
      const double phase = 2 * std::numbers::pi * static_cast<double>(at.own) / period;
      return static_cast<uint64_t>(mean * (1 + std::sin(phase)));
    };
  };
  const auto square = [](uint64_t period, uint64_t on) {
    return [period, on](const ModelCycle& at) { return uint64_t{at.own % period < on ? 40u : 2u}; };
  };
  return {
      {"even", [](const ModelCycle&) { return 8; }},
      {"noise", Noise(1, 8)},
      {"rare", one_in(2, 64)},
      {"very rare", one_in(3, 200)},
      {"long phases", square(40 * round / 3, 13 * round / 3)},
      {"every other slot", square(2 * slot, slot)},
      {"one slot of a round", square(round, slot)},
      {"a residency's first slot", [slot](const ModelCycle& at) { return uint64_t{at.within < slot ? 32u : 1u}; }},
      {"a slot of each round that knows all but the seed",
       [slot, sets](const ModelCycle& at) {
         const uint64_t position = at.within / slot;
         const bool is_on = position % sets == Scatter(4, position / sets) % sets;
         return uint64_t{is_on ? 48u : 0u};
       }},
      {"bursts of half a slot", Bursts(5, slot / 2, 100)},
      {"bursts of three slots", Bursts(6, 3 * slot, 200)},
      {"wave of 1.7 slots", wave(1.7 * static_cast<double>(slot), 16)},
      {"wave of 29 slots", wave(29 * static_cast<double>(slot), 16)},
      {"rising", [slot](const ModelCycle& at) { return std::min(kModelGain, at.own / (8 * slot)); }},
      {"bursts of any size",
       [slot](const ModelCycle& at) {
         const uint64_t draw = Scatter(7, at.own / slot) % 32;
         return kModelGain / (draw + 1);
       }},
      {"all", [](const ModelCycle&) { return kModelGain; }},
  };
}

std::vector<uint64_t> OneResidency() { return {kSlots * kSlot}; }

std::vector<uint64_t> CutResidencies() {
  std::vector<uint64_t> lengths;
  for (uint64_t sum = 0; sum < kSlots * kSlot; sum += lengths.back()) {
    lengths.push_back(1 + Scatter(99, lengths.size()) % (60 * kSlot));
  }
  return lengths;
}

std::vector<WidthsOfMix> MeasureWidths(const std::vector<uint64_t>& residencies) {
  std::vector<WidthsOfMix> all;
  for (const Mix& mix : Mixes()) {
    all.push_back({.name = mix.name,
                   .is_mixed = mix.is_mixed,
                   .equal = Measure(mix, false, residencies),
                   .adaptive = Measure(mix, true, residencies)});
  }
  return all;
}

}  // namespace sideband::mcu

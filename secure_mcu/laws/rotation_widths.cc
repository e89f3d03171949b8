// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/laws/rotation_widths.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "secure_mcu/laws/rotation_model.h"
#include "secure_mcu/laws/rotation_workloads.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kSlot = 64;
constexpr size_t kSets = 8, kEvents = 4;  // a set
constexpr uint64_t kSeeds = 40;
constexpr uint64_t kSlots = 8192;

struct Mix {
  std::string name;
  bool is_mixed = true;
  // Of an event of a set.
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

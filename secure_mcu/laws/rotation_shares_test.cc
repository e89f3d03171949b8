// SPDX-License-Identifier: Apache-2.0
//
// What adaptive turns are worth beside equal ones (event-groups.md, R9): the half-widths of the intervals after as long
// a run, mean of seeds. SIDEBAND_VERBOSE prints the numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

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

// Of a workload's events, relative.
struct Widths {
  double median = 0, mean_square = 0;  // the latter's root
};

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
  Widths all;
  for (const double width : widths) all.mean_square += width * width;
  all.mean_square = std::sqrt(all.mean_square / static_cast<double>(widths.size()));
  std::ranges::sort(widths);
  all.median = (widths[widths.size() / 2 - 1] + widths[widths.size() / 2]) / 2;
  return all;
}

double RatioOf(double adaptive, double equal) { return equal == 0 ? 1 : adaptive / equal; }

// The ratios of the means that sum up a workload; what turns are shared for.
std::vector<double> RatiosOf(const std::string& name, bool only_mixed, const std::vector<uint64_t>& residencies) {
  std::vector<double> ratios;
  for (const Mix& mix : Mixes()) {
    if (only_mixed && !mix.is_mixed) continue;
    const Widths equal = Measure(mix, false, residencies), adaptive = Measure(mix, true, residencies);
    ratios.push_back(RatioOf(adaptive.mean_square, equal.mean_square));
    if (std::getenv("SIDEBAND_VERBOSE") == nullptr) continue;
    std::printf("%s: %-32s mean %.4f -> %.4f (%.2f) median event %.4f -> %.4f (%.2f)\n", name.c_str(), mix.name.c_str(),
                equal.mean_square, adaptive.mean_square, ratios.back(), equal.median, adaptive.median,
                RatioOf(adaptive.median, equal.median));
  }
  std::ranges::sort(ratios);
  return ratios;
}

std::vector<uint64_t> Cut() {
  std::vector<uint64_t> lengths;
  for (uint64_t sum = 0; sum < kSlots * kSlot; sum += lengths.back()) {
    lengths.push_back(1 + Scatter(99, lengths.size()) % (60 * kSlot));
  }
  return lengths;
}

TEST(RotationSharesTest, NarrowsMixedWorkloads) {
  const std::vector<double> ratios = RatiosOf("one residency", true, {kSlots * kSlot});
  EXPECT_LE(ratios[ratios.size() / 2], 0.8);
  EXPECT_LE(ratios.back(), 1.1);
}

TEST(RotationSharesTest, NarrowsMixedWorkloadsInCutSlots) {
  const std::vector<double> ratios = RatiosOf("cut", true, Cut());
  EXPECT_LE(ratios[ratios.size() / 2], 0.8);
  EXPECT_LE(ratios.back(), 1.1);
}

TEST(RotationSharesTest, LosesNothingElsewhere) {
  EXPECT_LE(RatiosOf("one residency", false, {kSlots * kSlot}).back(), 1.1);
  EXPECT_LE(RatiosOf("cut", false, Cut()).back(), 1.1);
}

}  // namespace
}  // namespace sideband::mcu

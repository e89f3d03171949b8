// SPDX-License-Identifier: Apache-2.0
//
// What adaptive turns are worth beside equal ones (docs/experiments/rotation.md, R9): the half-widths of the intervals
// after as long a run, of workloads of 8 sets of 4 events, 8192 slots, mean of 40 seeds.
//   for (const WidthsOfMix& mix : MeasureWidths(OneResidency())) mix.ratio();
#ifndef SIDEBAND_TESTS_LAB_LAWS_ROTATION_WIDTHS_H_
#define SIDEBAND_TESTS_LAB_LAWS_ROTATION_WIDTHS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/lab/laws/rotation_model.h"

namespace sideband::mcu {

// A number that only depends on its arguments, from all 64-bit ones, evenly.
uint64_t Scatter(uint64_t seed, uint64_t n);

// Kinds of events for statistics of rotation: what each gains in a cycle, in closed form.

// `mean` a cycle: each gains from 0 to twice that.
ModelRate Noise(uint64_t seed, uint64_t mean);
// All gain in bursts: in a part `per_mille` of the spans of that length.
ModelRate Bursts(uint64_t seed, uint64_t span, uint64_t per_mille);

struct ModelWorkload {
  std::string name;
  ModelRate rate;
};
// Even and uneven ones, some in phase with the slots, and one that knows all but the seed: it gains in one slot of each
// round. 16: a multiple of usual numbers of sets.
std::vector<ModelWorkload> AllWorkloads(uint64_t slot, size_t sets);

// Of a workload's events, relative to their truth: half of the 95 % interval.
struct Widths {
  double median = 0;
  double mean = 0;  // root of the mean square: what turns are shared for
};

struct WidthsOfMix {
  std::string name;
  bool is_mixed = true;  // its sets need unequal turns
  Widths equal, adaptive;

  double ratio() const { return equal.mean == 0 ? 1 : adaptive.mean / equal.mean; }
  double median_ratio() const { return equal.median == 0 ? 1 : adaptive.median / equal.median; }
};

// Lengths of residencies in cycles: one, and ones of 1 to 60 slots that switches cut anywhere.
std::vector<uint64_t> OneResidency();
std::vector<uint64_t> CutResidencies();

// Of every workload. Seeds are fixed.
std::vector<WidthsOfMix> MeasureWidths(const std::vector<uint64_t>& residencies);

}  // namespace sideband::mcu

#endif  // SIDEBAND_TESTS_LAB_LAWS_ROTATION_WIDTHS_H_

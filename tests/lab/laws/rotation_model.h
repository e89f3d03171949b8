// SPDX-License-Identifier: Apache-2.0
//
// One context's rotation without a chip: the counts of each cycle are given, and a RotationLife is played over its
// slots, so that thousands of seeds are cheap (counter-rotation.md, "Laws", 5 and 6, and R9). MeasureWidths says what
// adaptive turns are worth beside equal ones (docs/experiments/rotation.md, R9): the half-widths of the intervals after
// as long a run, of workloads of 8 sets of 4 events, 8192 slots, mean of 40 seeds.
//   const RotationModel model({.sets = 2, .settings = {}, .residencies = {6400, 6400}, .rates = {rate, rate}});
//   const ModelResult result = model.Play(/*seed=*/1);
//   result.events[0].sum / model.truth(0);
//   for (const WidthsOfMix& mix : MeasureWidths(OneResidency())) mix.ratio();
#ifndef SIDEBAND_TESTS_LAB_LAWS_ROTATION_MODEL_H_
#define SIDEBAND_TESTS_LAB_LAWS_ROTATION_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/rotation_life.h"
#include "secure_mcu/chip/rotation_table.h"

namespace sideband::mcu {

struct ModelCycle {
  uint64_t own = 0;     // since the context's begin
  uint64_t within = 0;  // since its residency's
};
// The gain of an event in a cycle, at most kModelGain.
using ModelRate = std::function<uint64_t(const ModelCycle&)>;
inline constexpr uint32_t kModelGainBits = 6;
inline constexpr uint64_t kModelGain = uint64_t{1} << kModelGainBits;

struct ModelSpec {
  size_t sets = 4;  // events are dealt in their order: the first of them to set 0
  mailbox::RotationSettings settings;
  std::vector<uint64_t> residencies;  // their lengths
  std::vector<ModelRate> rates;       // per event; a multiple of the sets
  ModelRate instructions = nullptr;   // none: the chip does not tell them
};

struct ModelResult {
  struct Event {
    double sum = 0;  // A: neither cut to bounds nor a running maximum
    double shown = 0, upper = 0;
    double deviation = 0;
    uint64_t counted = 0, slots = 0;
  };
  std::vector<Event> events;
  std::vector<uint64_t> turns;  // per set
};

class RotationModel {
 public:
  explicit RotationModel(const ModelSpec& spec);

  double truth(size_t event) const { return static_cast<double>(totals_[event].back()); }
  // A function of the seed.
  ModelResult Play(uint64_t seed, bool is_confidential = false) const;

 private:
  std::vector<uint64_t> CountsIn(uint64_t begin, uint64_t end) const;

  const std::vector<uint64_t> residencies_;
  const bool has_instructions_;
  std::vector<std::vector<uint64_t>> totals_;  // per event: of the cycles below each
  std::shared_ptr<const RotationTable> table_;
};

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

// Half of the 95 % interval of a workload's events, relative to their truth.
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

// Measures every workload. Seeds are fixed.
std::vector<WidthsOfMix> MeasureWidths(const std::vector<uint64_t>& residencies);

}  // namespace sideband::mcu

#endif  // SIDEBAND_TESTS_LAB_LAWS_ROTATION_MODEL_H_

// SPDX-License-Identifier: Apache-2.0
//
// One context's rotation without a chip: the counts of each cycle are given, and a RotationLife is played over its
// slots, so that thousands of seeds are cheap (counter-rotation.md, "Laws", 5 and 6, and R9).
//   const RotationModel model({.sets = 2, .settings = {}, .residencies = {6400, 6400}, .rates = {rate, rate}});
//   const ModelResult result = model.Play(/*seed=*/1);
//   result.events[0].sum / model.truth(0);
#ifndef SIDEBAND_TESTS_LAB_LAWS_ROTATION_MODEL_H_
#define SIDEBAND_TESTS_LAB_LAWS_ROTATION_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/rotation_life.h"
#include "secure_mcu/chip/rotation_table.h"

namespace sideband::mcu {

struct ModelCycle {
  uint64_t own = 0;     // since the context's begin
  uint64_t within = 0;  // since its residency's
};
// What an event gains in a cycle, at most kModelGain.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_TESTS_LAB_LAWS_ROTATION_MODEL_H_

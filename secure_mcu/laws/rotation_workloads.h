// SPDX-License-Identifier: Apache-2.0
//
// Kinds of events for statistics of rotation: what each gains in a cycle, in closed form.
//   const std::vector<ModelWorkload> workloads = AllWorkloads(/*slot=*/64, /*sets=*/4);
//   spec.rates.push_back(workloads[0].rate);
#ifndef SIDEBAND_SECURE_MCU_LAWS_ROTATION_WORKLOADS_H_
#define SIDEBAND_SECURE_MCU_LAWS_ROTATION_WORKLOADS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "secure_mcu/laws/rotation_model.h"

namespace sideband::mcu {

// A number that only depends on its arguments, from all 64-bit ones, evenly.
uint64_t Scatter(uint64_t seed, uint64_t n);

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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_LAWS_ROTATION_WORKLOADS_H_

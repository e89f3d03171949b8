// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/laws/rotation_workloads.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sideband::mcu {

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

}  // namespace sideband::mcu

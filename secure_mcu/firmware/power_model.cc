// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/power_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sideband::mcu {

PowerModel::PowerModel(Config config)
    : config_(std::move(config)),
      power_mw_(config_.idle_mw),
      temperature_c_(config_.ambient_c + config_.idle_mw / 1000 * config_.c_per_watt) {}

double PowerModel::EnergyPj(std::span<const uint64_t> counters) const {
  double energy = 0;
  for (size_t i = 0; i < std::min(counters.size(), config_.event_pj.size()); ++i) {
    energy += static_cast<double>(counters[i]) * config_.event_pj[i];
  }
  return energy;
}

double PowerModel::EnergyMj(std::span<const uint64_t> counters, uint64_t reference_time_ns) const {
  // Both terms are in millijoules: 1 mW for 10^9 ns, and 10^9 pJ.
  return config_.idle_mw * static_cast<double>(reference_time_ns) / 1e9 + EnergyPj(counters) / 1e9;
}

bool PowerModel::Update(std::span<const uint64_t> counters, uint64_t reference_time_ns) {
  if (!IsDue(reference_time_ns)) return false;
  const double elapsed_ns = static_cast<double>(reference_time_ns - time_ns_);
  const double energy_pj = EnergyPj(counters);
  power_mw_ = config_.idle_mw + (energy_pj - energy_pj_) / elapsed_ns;  // 1 pJ/ns is 1 mW
  energy_pj_ = energy_pj;
  time_ns_ = reference_time_ns;
  // The temperature approaches its steady state exponentially.
  const double settled_c = config_.ambient_c + power_mw_ / 1000 * config_.c_per_watt;
  temperature_c_ = settled_c + (temperature_c_ - settled_c) * std::exp(-elapsed_ns / 1e9 / config_.time_constant_s);
  return true;
}

}  // namespace sideband::mcu

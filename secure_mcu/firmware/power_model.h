// SPDX-License-Identifier: Apache-2.0
//
// Power and temperature computed from counted events: each event costs an energy, and heat flows through a thermal
// resistance with a time constant. Models a sensor of a chip that does not exist; every parameter comes from the
// caller.
//   PowerModel model({.idle_mw = 60'000, .event_pj = {900}});
//   model.Update(counters, reference_time_ns);
//   model.power_mw();
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_POWER_MODEL_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_POWER_MODEL_H_

#include <cstdint>
#include <span>
#include <vector>

namespace sideband::mcu {

// Not thread-safe.
class PowerModel {
 public:
  struct Config {
    double idle_mw = 50'000;
    std::vector<double> event_pj;      // picojoules for one count of each event
    double ambient_c = 30;             // degrees Celsius
    double c_per_watt = 0.15;          // thermal resistance
    double time_constant_s = 5;        // of the package
    uint64_t window_ns = 100'000'000;  // minimum time over which power is averaged
  };

  explicit PowerModel(Config config);

  // Whether counts of the event use energy.
  bool Uses(size_t event) const { return event < config_.event_pj.size() && config_.event_pj[event] != 0; }

  // Whether window_ns have passed since the last update.
  bool IsDue(uint64_t reference_time_ns) const { return reference_time_ns - time_ns_ >= config_.window_ns; }
  // `counters` are the device's cumulative counts, or estimates, at `reference_time_ns`. Has no effect, and returns
  // false, unless it is due.
  bool Update(std::span<const uint64_t> counters, uint64_t reference_time_ns);

  const Config& config() const { return config_; }
  double power_mw() const { return power_mw_; }
  double temperature_c() const { return temperature_c_; }
  // Energy used up to `reference_time_ns`, in millijoules.
  double EnergyMj(std::span<const uint64_t> counters, uint64_t reference_time_ns) const;

 private:
  double EnergyPj(std::span<const uint64_t> counters) const;

  const Config config_;
  double energy_pj_ = 0;
  uint64_t time_ns_ = 0;
  double power_mw_;
  double temperature_c_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_POWER_MODEL_H_

// SPDX-License-Identifier: Apache-2.0
//
// A board behind its mailbox: what it has, what has happened to it, its physics, and the sensors that show them. Both
// sets of registers serve the same board.
//   BoardUnit board(device, power, file.board);
//   board.state.pcie.fatal += 1;
//   board.physics.Tick();
//   Sensors sensors(device, board, {.temperature = Complement::kWithhold});
//   sensors.GetTemperature(0, /*with_fraction=*/true);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_UNIT_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_UNIT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "proto/mailbox/board_items.h"
#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Power and temperature computed from counted events: each event costs an energy, and heat flows through a thermal
// resistance with a time constant. Models a sensor of a chip that does not exist; every parameter comes from the
// caller. Not thread-safe.
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

// The parts of a board's power.
struct BoardRails {
  PowerModel total;
  std::optional<PowerModel> memory;  // its part; with MemorySensorSpec
};

// The physics of a board, computed from what its chip counted: the power of each rail, heat, and the clock that the
// board lowers while it is too hot or takes too much power. One object per board: all clients are told the same power
// and temperature, which also decide on the clock. Not thread-safe.
class BoardPhysics {
 public:
  // All must outlive it. Throttling is written to `state`.
  BoardPhysics(Device& device, const PowerModel::Config& power, const BoardSpec& spec, BoardState& state);

  // Brings the models up to date and sets the workload's clock, once in each window of the power model.
  void Tick();

  // The models of the counts that a rule permits, up to date; nullptr if the rule withholds them, or while an event
  // that uses energy has had no turn (OpenCounts). Two sets: what one class allows leaves no trace in another.
  const BoardRails* Rails(Complement rule);
  // The counts themselves, up to now; nullopt where Rails would be nullptr.
  std::optional<std::vector<uint64_t>> Counts(Complement rule);

 private:
  static BoardRails MakeRails(const Device& device, const PowerModel::Config& power, const BoardSpec& spec);
  struct Decision {
    uint32_t reasons;  // bits of ThrottleReason
    uint64_t hz;       // of the workload's clock
  };
  double PowerLimitMw() const;
  Decision Decide(const WorkloadClock& clock) const;
  uint32_t ThermalReasons() const;
  double PowerMwAt(uint64_t hz, const WorkloadClock& clock) const;
  void AddViolations(uint32_t reasons, uint64_t elapsed_ns);

  Device& device_;
  const BoardSpec& spec_;
  BoardState& state_;
  BoardRails open_;             // of what OpenCounts has
  BoardRails whole_;            // of what WholeCounts has: the board's own
  uint64_t controlled_ns_ = 0;  // reference time of the last decision on the clock
};

// The counts of the whole device that are known not to be of a confidential VM; of multiplexed events, estimates.
// Counts up to now; they are as old as the last commits. `uses` selects events by number: nullopt if one of them takes
// turns and has not had any while others had. Beside such a VM that is not private, these are the sums over the other
// VMs and the slices' hosts. Events of the device's scope are 0 once there has been a confidential VM, since it is
// unknown whose they are.
std::optional<std::vector<uint64_t>> OpenCounts(Device& device, absl::FunctionRef<bool(size_t)> uses);

// The same of what the chip has counted, private VMs included.
std::optional<std::vector<uint64_t>> WholeCounts(Device& device, absl::FunctionRef<bool(size_t)> uses);

// Members refer to each other. Not thread-safe.
struct BoardUnit {
  // `device` must outlive it.
  BoardUnit(Device& device, const PowerModel& power, const BoardSpec& what = {})
      : spec(what), state(spec), physics(device, power.config(), spec, state) {}
  BoardUnit(const BoardUnit&) = delete;
  BoardUnit& operator=(const BoardUnit&) = delete;

  const BoardSpec spec;
  BoardState state;
  BoardPhysics physics;
};

// Temperature, power and energy, and the thresholds of temperature, as of the board's physics.
// A sensor that the board lacks (BoardSpec) is ERR_NOT_SUPPORTED, one that SMBPBI does not define ERR_ARG1. Of events
// that are multiplexed, estimates are used; while one that uses energy has not had any turn, the sensors are
// ERR_NOT_AVAILABLE, and so is what the policy withholds. Not thread-safe.
class Sensors {
 public:
  // Both must outlive it. The policy's classes power, energy and temperature apply.
  Sensors(Device& device, BoardUnit& board, const ComplementPolicy& complement = {})
      : device_(device), board_(board), complement_(complement) {}

  // s24.8 degrees Celsius; the fraction is 0 unless `with_fraction` is set.
  Reply GetTemperature(uint8_t sensor, bool with_fraction);
  // s24.8 degrees Celsius, or degrees below the hardware's slowdown (ThermParam).
  Reply GetThermParam(uint8_t param) const;
  // Milliwatts.
  Reply GetPower(uint8_t source);
  // Millijoules since the start: low half in data, high half in extended data.
  Reply GetEnergy(uint8_t source);

  // Millijoules since the start, as of the last commit; nullopt if they are not available.
  std::optional<uint64_t> EnergyMj();

 private:
  bool HasTemperature(mailbox::TempSensor sensor) const;
  bool HasPower(mailbox::PowerSource source) const;
  double ModuleOverheadMw() const { return board_.spec.module_overhead_mw.value_or(0); }
  std::optional<double> ExactEnergyMj();

  Device& device_;
  BoardUnit& board_;
  const ComplementPolicy complement_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_UNIT_H_

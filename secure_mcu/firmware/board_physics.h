// SPDX-License-Identifier: Apache-2.0
//
// The physics of a board, computed from what its chip counted: the power of each rail, heat, and the clock that the
// board lowers while it is too hot or takes too much power.
//   BoardPhysics physics(device, power.config(), spec, state);
//   physics.Tick();                                                // at least every window of the power model
//   const BoardRails* const rails = physics.Rails(Complement::kExclude);
//   if (rails != nullptr) rails->total.power_mw();
// One object per board: all clients are told the same power and temperature, which also decide on the clock.
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_PHYSICS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_PHYSICS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/board/board_spec.h"
#include "secure_mcu/board/board_state.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/power_model.h"

namespace sideband::mcu {

struct BoardRails {
  PowerModel total;
  std::optional<PowerModel> memory;  // its part; with MemorySensorSpec
};

// Not thread-safe.
class BoardPhysics {
 public:
  // All must outlive it. Throttling is written to `state`.
  BoardPhysics(Device& device, const PowerModel::Config& power, const BoardSpec& spec, BoardState& state);

  // Brings the models up to date and sets the workload's clock, once in each window of the power model.
  void Tick();

  // The models of the counts that a rule permits, up to date; nullptr if the rule withholds them, or while an event
  // that uses energy has had no turn (device_counts.h). Two sets: what one class allows leaves no trace in another.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_PHYSICS_H_

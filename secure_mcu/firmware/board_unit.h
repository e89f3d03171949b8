// SPDX-License-Identifier: Apache-2.0
//
// A board behind its mailbox: what it has, what has happened to it, and its physics. Both sets of registers serve the
// same one.
//   BoardUnit board(device, power, file.board);
//   board.state.pcie.fatal += 1;
//   board.physics.Tick();
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_UNIT_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_UNIT_H_

#include "secure_mcu/board/board_spec.h"
#include "secure_mcu/board/board_state.h"
#include "secure_mcu/firmware/board_physics.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/power_model.h"

namespace sideband::mcu {

// Not thread-safe.
struct BoardUnit {
  // `device` must outlive it.
  BoardUnit(Device& device, const PowerModel& power, const BoardSpec& what = {})
      : spec(what), state(spec), physics(device, power.config(), spec, state) {}
  BoardUnit(const BoardUnit&) = delete;  // members refer to each other
  BoardUnit& operator=(const BoardUnit&) = delete;

  const BoardSpec spec;
  BoardState state;
  BoardPhysics physics;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_UNIT_H_

// SPDX-License-Identifier: Apache-2.0
//
// Whether a board's power suffices, GET_POWER_CONNECTOR_STATE (opcode 0x12), and whether it is protected against
// writes, ACCESS_WP_MODE (0x17).
//   BoardFlags flags(board.spec, board.state);
//   flags.AccessWriteProtect(/*set*/ 1, mailbox::kWriteProtectEnabled);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_FLAGS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_FLAGS_H_

#include <cstdint>

#include "secure_mcu/board/board_spec.h"
#include "secure_mcu/board/board_state.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// A command that the board lacks is ERR_NOT_SUPPORTED with any arguments. Not thread-safe.
class BoardFlags {
 public:
  // Both must outlive it.
  BoardFlags(const BoardSpec& spec, BoardState& state) : spec_(spec), state_(state) {}

  // Bit 0: the power of the auxiliary connector is insufficient. `arg1` must be 0.
  Reply GetPowerConnector(uint8_t arg1) const;

  // arg1 0 returns mailbox::kWriteProtectEnabled or kWriteProtectDisabled, 1 sets it to arg2, which is one of the two.
  // Both sets of registers share it. Nothing in an emulated board obeys it.
  Reply AccessWriteProtect(uint8_t arg1, uint8_t arg2);

 private:
  Reply WriteProtect() const;

  const BoardSpec& spec_;
  BoardState& state_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_FLAGS_H_

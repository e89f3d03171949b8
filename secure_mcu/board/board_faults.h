// SPDX-License-Identifier: Apache-2.0
//
// The effects of a plan's faults (sim/bus) on a board. They add to its state, which only a new start clears.
//   BoardState state(spec);
//   if (IsPossible(fault, spec)) Apply(fault, state, now_s);
#ifndef SIDEBAND_SECURE_MCU_BOARD_BOARD_FAULTS_H_
#define SIDEBAND_SECURE_MCU_BOARD_BOARD_FAULTS_H_

#include <cstdint>

#include "secure_mcu/board/board_spec.h"
#include "secure_mcu/board/board_state.h"
#include "sim/bus/board_fault.h"

namespace sideband::mcu {

// Whether the board has the part that fails: a memory with ECC, the link, a driver with messages. Every board can
// require a reset, lack power and lose a capability.
bool IsPossible(const sim::BoardFault& fault, const BoardSpec& spec);

// `now_s` is the time of a driver's message, in seconds since 1970. Counters stay at the maximum of their type. A link
// that the board does not have is ignored; the other parts are not checked (IsPossible).
void Apply(const sim::BoardFault& fault, BoardState& state, uint32_t now_s);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BOARD_BOARD_FAULTS_H_

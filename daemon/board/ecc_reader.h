// SPDX-License-Identifier: Apache-2.0
//
// Errors of a board's memories by the newest generation of GET_ECC that it announces. Versions 2 to 4 count for each
// unit of a memory, and do not say how many there are: units are asked for until the board does not have the next one.
#ifndef SIDEBAND_DAEMON_BOARD_ECC_READER_H_
#define SIDEBAND_DAEMON_BOARD_ECC_READER_H_

#include <cstdint>
#include <optional>
#include <span>

#include "daemon/board/group_round.h"

namespace sideband::daemon {

void PlanEcc(GroupRound& round);

// The unit after `unit`, whose number has fields of these widths, the lowest first. After a unit that the board does
// not have, the first one of the next group. nullopt after the last one.
std::optional<uint8_t> NextUnit(uint8_t unit, bool exists, std::span<const int> widths);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_ECC_READER_H_

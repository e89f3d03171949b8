// SPDX-License-Identifier: Apache-2.0
//
// The bus time of one command, in bit times: data-in if there is any, the command, one status, and the outputs
// (smbpbi-facts.md, 6.1 and 6.2), with another status where others use the registers, too. Further polls of a slow
// board are not included.
//   CommandBits(/*has_data_in=*/false, {.data = true}, {.has_pec = false});   // 215: 2.15 ms at 100 kHz
#ifndef SIDEBAND_DAEMON_BOARD_COMMAND_COST_H_
#define SIDEBAND_DAEMON_BOARD_COMMAND_COST_H_

#include <cstdint>

#include "daemon/board/board_port.h"

namespace sideband::daemon {

// Of the port's transactions.
struct PortTraits {
  bool has_pec = true;
  bool is_shared = false;  // outputs are followed by another status
};

uint64_t CommandBits(bool has_data_in, const Outputs& outputs, const PortTraits& port);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_COMMAND_COST_H_

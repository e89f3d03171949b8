// SPDX-License-Identifier: Apache-2.0
//
// Which replies repeat the opcode and the arguments of their command: some of SMBPBI's have results in bits 23:0
// instead (docs/design/smbpbi-facts.md, 3.4, 3.7, 3.8 and 3.10).
//   if (EchoesItself(command) && reply.opcode != command.opcode) return Interference();
#ifndef SIDEBAND_PROTO_MAILBOX_ECHO_H_
#define SIDEBAND_PROTO_MAILBOX_ECHO_H_

#include "proto/mailbox/ecc.h"
#include "proto/mailbox/link_info.h"
#include "proto/mailbox/word.h"

namespace sideband::mailbox {

constexpr bool EchoesItself(const CommandWord& command) {
  const bool is_link_result = command.opcode == Opcode::kGetNvlinkInfo &&
                              command.arg1 >= static_cast<uint8_t>(NvlinkItem::kDataTx) &&
                              command.arg1 <= static_cast<uint8_t>(NvlinkItem::kRuntimeErrors);
  const bool is_histogram =
      command.opcode == Opcode::kGetRowRemap && command.arg1 == static_cast<uint8_t>(RemapItem::kHistogram);
  const bool is_packed = command.opcode == Opcode::kLaunchBundle || command.opcode == Opcode::kPerformanceMonitoring;
  return !command.copy_data && !is_link_result && !is_histogram && !is_packed;
}

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ECHO_H_

// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's GET_PCIE_LINK_INFO in a bus trace (proto/mailbox/link_info.h).
//   PcieArguments(command, in);     // "link"
//   PcieData(command, 0x03020154);  // "generation 4, x16, 1 non-fatal error, 2 fatal errors, 3 unsupported requests"
// The functions have the forms of command_text_row.h.
#ifndef SIDEBAND_CLIENT_BUS_PCIE_TEXT_H_
#define SIDEBAND_CLIENT_BUS_PCIE_TEXT_H_

#include <cstdint>
#include <string>

#include "client/bus/data_registers.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

std::string PcieArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string PcieData(const mailbox::CommandWord& command, uint32_t value);
std::string PcieExtendedData(const mailbox::CommandWord& command, uint32_t value);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_PCIE_TEXT_H_

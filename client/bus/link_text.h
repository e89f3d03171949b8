// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's GET_NVLINK_INFO and GET_PCIE_LINK_INFO in a bus trace (proto/mailbox/memory_links.h).
//   NvlinkArguments(command, in);   // "data sent, all links"
//   NvlinkWord(command, word);      // "12 MiB, new sample"
// The functions have the forms of command_text_row.h. States and widths are in both data registers; throughput and
// counts of erroneous links are in the reply's word.
#ifndef SIDEBAND_CLIENT_BUS_LINK_TEXT_H_
#define SIDEBAND_CLIENT_BUS_LINK_TEXT_H_

#include <cstdint>
#include <string>

#include "client/bus/data_registers.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

std::string PcieArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string PcieData(const mailbox::CommandWord& command, uint32_t value);
std::string PcieExtendedData(const mailbox::CommandWord& command, uint32_t value);

std::string NvlinkArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string NvlinkData(const mailbox::CommandWord& command, uint32_t value);
std::string NvlinkExtendedData(const mailbox::CommandWord& command, uint32_t value);
std::string NvlinkWord(const mailbox::CommandWord& command, uint32_t word);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_LINK_TEXT_H_

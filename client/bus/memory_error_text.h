// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's commands about errors of a board's memories in a bus trace: GET_ECC of each generation, retired pages and
// remapped rows (proto/mailbox/memory_links.h).
//   EccV6Arguments(command, in);   // "uncorrected errors of SRAM"
//   RemapData(command, 0x00FFF003);   // "rows remapped: 3 for uncorrected errors, more than 2047 for corrected errors"
// The functions have the forms of command_text_row.h.
#ifndef SIDEBAND_CLIENT_BUS_MEMORY_ERROR_TEXT_H_
#define SIDEBAND_CLIENT_BUS_MEMORY_ERROR_TEXT_H_

#include <cstdint>
#include <string>

#include "client/bus/data_registers.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

// GET_ECC_V2 to V4. The place of an error is encoded differently in V2.
std::string EccSelectorArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string EccSelectorData(const mailbox::CommandWord& command, uint32_t value);

std::string EccV5Arguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string EccV5Data(const mailbox::CommandWord& command, uint32_t value);

std::string EccV6Arguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string EccV6Data(const mailbox::CommandWord& command, uint32_t value);

std::string RetiredPagesData(const mailbox::CommandWord& command, uint32_t value);

// The histogram is in all three registers of the reply.
std::string RemapArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string RemapData(const mailbox::CommandWord& command, uint32_t value);
std::string RemapExtendedData(const mailbox::CommandWord& command, uint32_t value);
std::string RemapWord(const mailbox::CommandWord& command, uint32_t word);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_MEMORY_ERROR_TEXT_H_

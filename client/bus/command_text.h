// SPDX-License-Identifier: Apache-2.0
//
// What a mailbox command asks for, and what its data registers mean.
//   CommandText(word, {.data = 7})   // "SCRATCH_WRITE dword 0 = 0x00000007"
//   DataText(word, 0x2D00)           // "45.0 degC"
#ifndef SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_
#define SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "proto/mailbox/word.h"

namespace sideband::client {

// What the data registers hold, as far as that has been seen.
struct DataRegisters {
  std::optional<uint32_t> data;
  std::optional<uint32_t> extended_data;
};

// A request: "GET_TEMP GPU0". Arguments without a meaning are shown as numbers unless they are 0.
std::string CommandText(const mailbox::CommandWord& command, const DataRegisters& in);

// What the stream is of that CATALOG, LATCH or READ opens: "snapshot 7".
std::string StreamSubject(const mailbox::CommandWord& command, const DataRegisters& in);

// What registers 5D and 5E hold after `command` succeeded; hexadecimal where nothing is known about it.
std::string DataText(const mailbox::CommandWord& command, uint32_t value);
std::string ExtendedDataText(const mailbox::CommandWord& command, uint32_t value);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_

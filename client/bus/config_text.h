// SPDX-License-Identifier: Apache-2.0
//
// Opcode CONFIG in a bus trace (proto/mailbox/README.md, "CONFIG").
//   Print(ConfigArguments(command, in));                // "address VM 1, word 6, tag 9"
//   Print(ConfigData(command, /*data-out=*/5));         // "revision 5"
#ifndef SIDEBAND_CLIENT_BUS_CONFIG_TEXT_H_
#define SIDEBAND_CLIENT_BUS_CONFIG_TEXT_H_

#include <cstdint>
#include <string>

#include "client/bus/data_registers.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

bool IsConfigStep(const mailbox::CommandWord& command, mailbox::ConfigStep step);
std::string ConfigArguments(const mailbox::CommandWord& command, const DataRegisters& in);
// Empty for a value without a meaning of its own.
std::string ConfigData(const mailbox::CommandWord& command, uint32_t value);
std::string ConfigExtendedData(const mailbox::CommandWord& command, uint32_t value);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_CONFIG_TEXT_H_

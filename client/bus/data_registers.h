// SPDX-License-Identifier: Apache-2.0
//
// The data registers of one mailbox as far as a trace shows them.
//   const DataRegisters in = {.data = 7};   // the value of the extended data register is unknown
#ifndef SIDEBAND_CLIENT_BUS_DATA_REGISTERS_H_
#define SIDEBAND_CLIENT_BUS_DATA_REGISTERS_H_

#include <cstdint>
#include <optional>

namespace sideband::client {

// Empty where the trace has not shown a register's value.
struct DataRegisters {
  std::optional<uint32_t> data;
  std::optional<uint32_t> extended_data;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_DATA_REGISTERS_H_

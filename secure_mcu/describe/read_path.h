// SPDX-License-Identifier: Apache-2.0
//
// The storage of the register read path (docs/design/registers.md) as the RTL in tests/rtl has it: hpc_read_path.sv
// with a client for each slice and for the firmware, and for each 64 events a manager of the context and of the VM of
// each slice, and of the device. tests/rtl/synthesis_test.py compares these numbers with a synthesis of that RTL.
//   const ReadPathRegisters registers = CountReadPath(/*slices=*/8, /*events=*/46);
//   const uint64_t total = registers.total();
#ifndef SIDEBAND_SECURE_MCU_DESCRIBE_READ_PATH_H_
#define SIDEBAND_SECURE_MCU_DESCRIBE_READ_PATH_H_

#include <cstdint>

#include "secure_mcu/describe/description.h"

namespace sideband::mcu {

// At least one slice; 0 without events.
ReadPathRegisters CountReadPath(uint64_t slices, uint64_t events);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DESCRIBE_READ_PATH_H_

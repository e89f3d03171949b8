// SPDX-License-Identifier: Apache-2.0
//
// Decodes instruction words of RV64IM with Zicsr, Zifencei, mret and wfi.
//   const Instruction nop = Decode(0x00000013);
#ifndef SIDEBAND_SIM_RISCV_DECODER_H_
#define SIDEBAND_SIM_RISCV_DECODER_H_

#include <cstdint>

#include "sim/riscv/instruction.h"

namespace sideband::riscv {

// Op::kIllegal for every other word, also of other extensions. Never Op::kUndecoded.
Instruction Decode(uint32_t word);

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_DECODER_H_

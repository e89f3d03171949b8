// SPDX-License-Identifier: Apache-2.0
//
// A decoded instruction, in eight bytes, as the interpreter's loop wants it.
//   const Instruction addi{.op = Op::kAdd, .rd = 5, .rs1 = 5, .rs2 = 0, .imm = -1};
#ifndef SIDEBAND_SIM_RISCV_INSTRUCTION_H_
#define SIDEBAND_SIM_RISCV_INSTRUCTION_H_

#include <cstdint>

#include "sim/riscv/operations.h"

namespace sideband::riscv {

enum class Op : uint8_t {
  kUndecoded,  // must be 0: what a code cache that was never written holds
  kIllegal,
#define SIDEBAND_RISCV_NAME(name, ...) name,
  SIDEBAND_RISCV_COMPUTATIONS(SIDEBAND_RISCV_NAME)  //
  SIDEBAND_RISCV_BRANCHES(SIDEBAND_RISCV_NAME)      //
  SIDEBAND_RISCV_LOADS(SIDEBAND_RISCV_NAME)         //
  SIDEBAND_RISCV_STORES(SIDEBAND_RISCV_NAME)        //
#undef SIDEBAND_RISCV_NAME
  kAuipc,
  kJal,
  kJalr,
  kFenceI,
  kEcall,
  kEbreak,
  kMret,
  kWfi,
  kCsrWrite,  // csrrw, csrrwi
  kCsrSet,    // csrrs, csrrsi
  kCsrClear,  // csrrc, csrrci
};

// What is written to register x0 goes here, so that no instruction needs a branch for it.
inline constexpr uint8_t kDiscarded = 32;

// The second operand of a computation is x[rs2] + imm: one of both is 0. Hence lui is an addition, and so is a fence,
// which has no effect on a core in order. Of a CSR instruction `imm` is the CSR; rs2 is 1 if rs1 is a 5-bit immediate.
struct Instruction {
  Op op = Op::kUndecoded;
  uint8_t rd = 0;   // 1 to 32
  uint8_t rs1 = 0;  // 0 to 31
  uint8_t rs2 = 0;  // 0 to 31
  int32_t imm = 0;

  bool operator==(const Instruction&) const = default;
};
static_assert(sizeof(Instruction) == 8);

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_INSTRUCTION_H_

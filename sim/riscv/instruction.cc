// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/instruction.h"

#include <cstddef>

namespace sideband::riscv {
namespace {

constexpr Instruction kIllegal{.op = Op::kIllegal, .rd = kDiscarded};

// The major opcodes, table 24.1.
enum Opcode : uint32_t {
  kLoad = 0x03,
  kMiscMem = 0x0f,
  kOpImm = 0x13,
  kAuipc = 0x17,
  kOpImm32 = 0x1b,
  kStore = 0x23,
  kOp = 0x33,
  kLui = 0x37,
  kOp32 = 0x3b,
  kBranch = 0x63,
  kJalr = 0x67,
  kJal = 0x6f,
  kSystem = 0x73,
};

constexpr uint32_t kArithmetic = 0x20;  // the funct7 of the shifts that keep the sign

// The fields of an instruction word.
struct Word {
  uint32_t bits;

  uint32_t Field(int low, int width) const { return bits >> low & ((1u << width) - 1); }
  uint32_t opcode() const { return Field(0, 7); }
  uint8_t rd() const { return Field(7, 5) == 0 ? kDiscarded : static_cast<uint8_t>(Field(7, 5)); }
  uint32_t funct3() const { return Field(12, 3); }
  uint8_t rs1() const { return static_cast<uint8_t>(Field(15, 5)); }
  uint8_t rs2() const { return static_cast<uint8_t>(Field(20, 5)); }
  uint32_t funct7() const { return Field(25, 7); }
  int32_t Sign() const { return static_cast<int32_t>(bits) >> 31; }

  // The immediates of the formats I, S, B, U and J (figure 2.4).
  int32_t imm_i() const { return static_cast<int32_t>(bits) >> 20; }
  int32_t imm_s() const { return (static_cast<int32_t>(bits) >> 25) * 32 + static_cast<int32_t>(Field(7, 5)); }
  int32_t imm_b() const {
    return Sign() * 4096 + static_cast<int32_t>(Field(7, 1) << 11 | Field(25, 6) << 5 | Field(8, 4) << 1);
  }
  int32_t imm_u() const { return static_cast<int32_t>(bits & 0xfffff000); }
  int32_t imm_j() const {
    return Sign() * (1 << 20) + static_cast<int32_t>(Field(12, 8) << 12 | Field(20, 1) << 11 | Field(21, 10) << 1);
  }
};

struct ComputationRow {
  Op op;
  bool word;
  uint32_t funct7;
  uint32_t funct3;
};
constexpr ComputationRow kComputations[] = {
#define SIDEBAND_RISCV_ROW(name, word, funct7, funct3, result) {Op::name, (word) != 0, funct7, funct3},
    SIDEBAND_RISCV_COMPUTATIONS(SIDEBAND_RISCV_ROW)
#undef SIDEBAND_RISCV_ROW
};

struct Row {
  Op op;
  uint32_t funct3;
};
#define SIDEBAND_RISCV_ROW(name, funct3, meaning) {Op::name, funct3},
constexpr Row kBranches[] = {SIDEBAND_RISCV_BRANCHES(SIDEBAND_RISCV_ROW)};
constexpr Row kLoads[] = {SIDEBAND_RISCV_LOADS(SIDEBAND_RISCV_ROW)};
constexpr Row kStores[] = {SIDEBAND_RISCV_STORES(SIDEBAND_RISCV_ROW)};
#undef SIDEBAND_RISCV_ROW

template <size_t kSize>
Op Find(const Row (&rows)[kSize], uint32_t funct3) {
  for (const Row& row : rows) {
    if (row.funct3 == funct3) return row.op;
  }
  return Op::kIllegal;
}

Op FindComputation(bool word, uint32_t funct7, uint32_t funct3) {
  for (const ComputationRow& row : kComputations) {
    if (row.word == word && row.funct7 == funct7 && row.funct3 == funct3) return row.op;
  }
  return Op::kIllegal;
}

Instruction DecodeRegisters(Word word) {
  const Op op = FindComputation(word.opcode() == kOp32, word.funct7(), word.funct3());
  return {.op = op, .rd = word.rd(), .rs1 = word.rs1(), .rs2 = word.rs2()};
}

// The shifts have a function code in the upper bits of the immediate; the amount has six bits, five in the 32-bit form.
Instruction DecodeShift(Word word, bool narrow) {
  const int amount_bits = narrow ? 5 : 6;
  const uint32_t funct7 = word.Field(20 + amount_bits, 12 - amount_bits) << (amount_bits - 5);
  if (funct7 != 0 && funct7 != kArithmetic) return kIllegal;  // a multiplication or division has no immediate
  return {.op = FindComputation(narrow, funct7, word.funct3()),
          .rd = word.rd(),
          .rs1 = word.rs1(),
          .imm = static_cast<int32_t>(word.Field(20, amount_bits))};
}

Instruction DecodeImmediate(Word word) {
  const bool narrow = word.opcode() == kOpImm32;
  if (word.funct3() == 1 || word.funct3() == 5) return DecodeShift(word, narrow);
  // The addition alone has a 32-bit form.
  return {.op = FindComputation(narrow, 0, word.funct3()), .rd = word.rd(), .rs1 = word.rs1(), .imm = word.imm_i()};
}

Instruction DecodeFence(Word word) {
  if (word.funct3() == 0) return {.op = Op::kAdd, .rd = kDiscarded};
  return word.funct3() == 1 ? Instruction{.op = Op::kFenceI, .rd = kDiscarded} : kIllegal;
}

Instruction DecodeWholeWord(Word word) {
  switch (word.bits) {
    case 0x00000073:
      return {.op = Op::kEcall, .rd = kDiscarded};
    case 0x00100073:
      return {.op = Op::kEbreak, .rd = kDiscarded};
    case 0x30200073:
      return {.op = Op::kMret, .rd = kDiscarded};
    case 0x10500073:
      return {.op = Op::kWfi, .rd = kDiscarded};
    default:
      return kIllegal;
  }
}

Instruction DecodeSystem(Word word) {
  constexpr Op kOps[] = {Op::kIllegal, Op::kCsrWrite, Op::kCsrSet, Op::kCsrClear};
  if (word.funct3() == 0) return DecodeWholeWord(word);
  return {.op = kOps[word.funct3() & 3],
          .rd = word.rd(),
          .rs1 = word.rs1(),
          .rs2 = static_cast<uint8_t>(word.funct3() >> 2),
          .imm = static_cast<int32_t>(word.Field(20, 12))};
}

Instruction DecodeByOpcode(Word word) {
  switch (word.opcode()) {
    case kOp:
    case kOp32:
      return DecodeRegisters(word);
    case kOpImm:
    case kOpImm32:
      return DecodeImmediate(word);
    case kLui:
      return {.op = Op::kAdd, .rd = word.rd(), .imm = word.imm_u()};
    case kAuipc:
      return {.op = Op::kAuipc, .rd = word.rd(), .imm = word.imm_u()};
    case kJal:
      return {.op = Op::kJal, .rd = word.rd(), .imm = word.imm_j()};
    case kJalr:
      if (word.funct3() != 0) return kIllegal;
      return {.op = Op::kJalr, .rd = word.rd(), .rs1 = word.rs1(), .imm = word.imm_i()};
    case kBranch:
      return {.op = Find(kBranches, word.funct3()),
              .rd = kDiscarded,
              .rs1 = word.rs1(),
              .rs2 = word.rs2(),
              .imm = word.imm_b()};
    case kLoad:
      return {.op = Find(kLoads, word.funct3()), .rd = word.rd(), .rs1 = word.rs1(), .imm = word.imm_i()};
    case kStore:
      return {.op = Find(kStores, word.funct3()),
              .rd = kDiscarded,
              .rs1 = word.rs1(),
              .rs2 = word.rs2(),
              .imm = word.imm_s()};
    case kMiscMem:
      return DecodeFence(word);
    case kSystem:
      return DecodeSystem(word);
    default:
      return kIllegal;
  }
}

}  // namespace

Instruction Decode(uint32_t word) {
  const Instruction instruction = DecodeByOpcode(Word{word});
  return instruction.op == Op::kIllegal ? kIllegal : instruction;
}

}  // namespace sideband::riscv

// SPDX-License-Identifier: Apache-2.0
//
// A core with 64 KiB of memory, for tests: words at its start, then as many steps as the test wants. The words of
// instructions are encoded by the manual's figures and tables, independently of the decoder.
//   TestCore test({as::Addi(5, 0, 1), as::Jal(0, -4)});
//   test.Step(2);
//   EXPECT_EQ(test.core().x(5), 1u);
// Operands are in the order of assembly: the destination first, then the sources, then the immediate; a store has its
// value first. An offset is relative to the instruction.
#ifndef SIDEBAND_SIM_RISCV_TEST_CORE_H_
#define SIDEBAND_SIM_RISCV_TEST_CORE_H_

#include <cstdint>
#include <vector>

#include "sim/riscv/core.h"
#include "sim/riscv/program.h"

namespace sideband::riscv {

inline constexpr uint64_t kTestBase = 0x10000;
inline constexpr uint64_t kTestBytes = 0x10000;
inline constexpr uint64_t kTestEnd = kTestBase + kTestBytes;

class TestCore {
 public:
  explicit TestCore(const std::vector<uint32_t>& words, const Core::Options& options = {})
      : memory_(kTestBase, kTestBytes), core_(memory_, options) {
    memory_.Write(kTestBase, words);
  }

  // Runs for as many cycles, without caches the same number of instructions, traps and interrupts.
  void Step(uint64_t steps = 1) { core_.Run(core_.cycle() + steps); }

  Core& core() { return core_; }
  Memory& memory() { return memory_; }
  // The instructions executed so far, if none has jumped.
  uint64_t words_passed() const { return (core_.pc() - kTestBase) / 4; }

 private:
  Memory memory_;
  Core core_;
};

}  // namespace sideband::riscv

namespace sideband::riscv::as {

// --- Formats --------------------------------------------------------------------------------------------------------

using Reg = uint32_t;  // 0 to 31

constexpr uint32_t TypeR(uint32_t opcode, uint32_t funct3, uint32_t funct7, Reg rd, Reg rs1, Reg rs2) {
  return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
constexpr uint32_t TypeI(uint32_t opcode, uint32_t funct3, Reg rd, Reg rs1, int32_t imm) {
  return (static_cast<uint32_t>(imm) & 0xfff) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
constexpr uint32_t TypeS(uint32_t funct3, Reg value, Reg base, int32_t imm) {
  const auto bits = static_cast<uint32_t>(imm);
  return (bits >> 5 & 0x7f) << 25 | value << 20 | base << 15 | funct3 << 12 | (bits & 0x1f) << 7 | 0x23;
}
constexpr uint32_t TypeB(uint32_t funct3, Reg rs1, Reg rs2, int32_t offset) {
  const auto bits = static_cast<uint32_t>(offset);
  return (bits >> 12 & 1) << 31 | (bits >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 |
         (bits >> 1 & 0xf) << 8 | (bits >> 11 & 1) << 7 | 0x63;
}
constexpr uint32_t TypeU(uint32_t opcode, Reg rd, uint32_t upper20) { return upper20 << 12 | rd << 7 | opcode; }
constexpr uint32_t TypeJ(Reg rd, int32_t offset) {
  const auto bits = static_cast<uint32_t>(offset);
  return (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21 | (bits >> 11 & 1) << 20 | (bits >> 12 & 0xff) << 12 |
         rd << 7 | 0x6f;
}

// --- RV64I ----------------------------------------------------------------------------------------------------------

constexpr uint32_t Lui(Reg rd, uint32_t upper20) { return TypeU(0x37, rd, upper20); }
constexpr uint32_t Auipc(Reg rd, uint32_t upper20) { return TypeU(0x17, rd, upper20); }
constexpr uint32_t Jal(Reg rd, int32_t offset) { return TypeJ(rd, offset); }
constexpr uint32_t Jalr(Reg rd, Reg rs1, int32_t imm) { return TypeI(0x67, 0, rd, rs1, imm); }

constexpr uint32_t Beq(Reg rs1, Reg rs2, int32_t offset) { return TypeB(0, rs1, rs2, offset); }
constexpr uint32_t Bne(Reg rs1, Reg rs2, int32_t offset) { return TypeB(1, rs1, rs2, offset); }
constexpr uint32_t Blt(Reg rs1, Reg rs2, int32_t offset) { return TypeB(4, rs1, rs2, offset); }
constexpr uint32_t Bge(Reg rs1, Reg rs2, int32_t offset) { return TypeB(5, rs1, rs2, offset); }
constexpr uint32_t Bltu(Reg rs1, Reg rs2, int32_t offset) { return TypeB(6, rs1, rs2, offset); }
constexpr uint32_t Bgeu(Reg rs1, Reg rs2, int32_t offset) { return TypeB(7, rs1, rs2, offset); }

constexpr uint32_t Lb(Reg rd, Reg base, int32_t imm) { return TypeI(0x03, 0, rd, base, imm); }
constexpr uint32_t Lh(Reg rd, Reg base, int32_t imm) { return TypeI(0x03, 1, rd, base, imm); }
constexpr uint32_t Lw(Reg rd, Reg base, int32_t imm) { return TypeI(0x03, 2, rd, base, imm); }
constexpr uint32_t Ld(Reg rd, Reg base, int32_t imm) { return TypeI(0x03, 3, rd, base, imm); }
constexpr uint32_t Lbu(Reg rd, Reg base, int32_t imm) { return TypeI(0x03, 4, rd, base, imm); }
constexpr uint32_t Lhu(Reg rd, Reg base, int32_t imm) { return TypeI(0x03, 5, rd, base, imm); }
constexpr uint32_t Lwu(Reg rd, Reg base, int32_t imm) { return TypeI(0x03, 6, rd, base, imm); }
constexpr uint32_t Sb(Reg value, Reg base, int32_t imm) { return TypeS(0, value, base, imm); }
constexpr uint32_t Sh(Reg value, Reg base, int32_t imm) { return TypeS(1, value, base, imm); }
constexpr uint32_t Sw(Reg value, Reg base, int32_t imm) { return TypeS(2, value, base, imm); }
constexpr uint32_t Sd(Reg value, Reg base, int32_t imm) { return TypeS(3, value, base, imm); }

constexpr uint32_t Addi(Reg rd, Reg rs1, int32_t imm) { return TypeI(0x13, 0, rd, rs1, imm); }
constexpr uint32_t Slti(Reg rd, Reg rs1, int32_t imm) { return TypeI(0x13, 2, rd, rs1, imm); }
constexpr uint32_t Sltiu(Reg rd, Reg rs1, int32_t imm) { return TypeI(0x13, 3, rd, rs1, imm); }
constexpr uint32_t Xori(Reg rd, Reg rs1, int32_t imm) { return TypeI(0x13, 4, rd, rs1, imm); }
constexpr uint32_t Ori(Reg rd, Reg rs1, int32_t imm) { return TypeI(0x13, 6, rd, rs1, imm); }
constexpr uint32_t Andi(Reg rd, Reg rs1, int32_t imm) { return TypeI(0x13, 7, rd, rs1, imm); }
constexpr uint32_t Slli(Reg rd, Reg rs1, int32_t amount) { return TypeI(0x13, 1, rd, rs1, amount); }
constexpr uint32_t Srli(Reg rd, Reg rs1, int32_t amount) { return TypeI(0x13, 5, rd, rs1, amount); }
constexpr uint32_t Srai(Reg rd, Reg rs1, int32_t amount) { return TypeI(0x13, 5, rd, rs1, 0x400 | amount); }
constexpr uint32_t Addiw(Reg rd, Reg rs1, int32_t imm) { return TypeI(0x1b, 0, rd, rs1, imm); }
constexpr uint32_t Slliw(Reg rd, Reg rs1, int32_t amount) { return TypeI(0x1b, 1, rd, rs1, amount); }
constexpr uint32_t Srliw(Reg rd, Reg rs1, int32_t amount) { return TypeI(0x1b, 5, rd, rs1, amount); }
constexpr uint32_t Sraiw(Reg rd, Reg rs1, int32_t amount) { return TypeI(0x1b, 5, rd, rs1, 0x400 | amount); }

constexpr uint32_t Add(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 0, 0x00, rd, rs1, rs2); }
constexpr uint32_t Sub(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 0, 0x20, rd, rs1, rs2); }
constexpr uint32_t Sll(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 1, 0x00, rd, rs1, rs2); }
constexpr uint32_t Slt(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 2, 0x00, rd, rs1, rs2); }
constexpr uint32_t Sltu(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 3, 0x00, rd, rs1, rs2); }
constexpr uint32_t Xor(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 4, 0x00, rd, rs1, rs2); }
constexpr uint32_t Srl(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 5, 0x00, rd, rs1, rs2); }
constexpr uint32_t Sra(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 5, 0x20, rd, rs1, rs2); }
constexpr uint32_t Or(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 6, 0x00, rd, rs1, rs2); }
constexpr uint32_t And(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 7, 0x00, rd, rs1, rs2); }
constexpr uint32_t Addw(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x3b, 0, 0x00, rd, rs1, rs2); }
constexpr uint32_t Subw(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x3b, 0, 0x20, rd, rs1, rs2); }
constexpr uint32_t Sllw(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x3b, 1, 0x00, rd, rs1, rs2); }
constexpr uint32_t Srlw(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x3b, 5, 0x00, rd, rs1, rs2); }
constexpr uint32_t Sraw(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x3b, 5, 0x20, rd, rs1, rs2); }

// --- RV64M ----------------------------------------------------------------------------------------------------------

constexpr uint32_t Mul(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 0, 0x01, rd, rs1, rs2); }
constexpr uint32_t Mulh(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 1, 0x01, rd, rs1, rs2); }
constexpr uint32_t Mulhsu(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 2, 0x01, rd, rs1, rs2); }
constexpr uint32_t Mulhu(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 3, 0x01, rd, rs1, rs2); }
constexpr uint32_t Div(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 4, 0x01, rd, rs1, rs2); }
constexpr uint32_t Divu(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 5, 0x01, rd, rs1, rs2); }
constexpr uint32_t Rem(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 6, 0x01, rd, rs1, rs2); }
constexpr uint32_t Remu(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x33, 7, 0x01, rd, rs1, rs2); }
constexpr uint32_t Mulw(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x3b, 0, 0x01, rd, rs1, rs2); }
constexpr uint32_t Divw(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x3b, 4, 0x01, rd, rs1, rs2); }
constexpr uint32_t Divuw(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x3b, 5, 0x01, rd, rs1, rs2); }
constexpr uint32_t Remw(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x3b, 6, 0x01, rd, rs1, rs2); }
constexpr uint32_t Remuw(Reg rd, Reg rs1, Reg rs2) { return TypeR(0x3b, 7, 0x01, rd, rs1, rs2); }

// --- Zicsr, Zifencei, privileged ------------------------------------------------------------------------------------

constexpr uint32_t Csrrw(Reg rd, uint32_t csr, Reg rs1) { return csr << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x73; }
constexpr uint32_t Csrrs(Reg rd, uint32_t csr, Reg rs1) { return csr << 20 | rs1 << 15 | 2 << 12 | rd << 7 | 0x73; }
constexpr uint32_t Csrrc(Reg rd, uint32_t csr, Reg rs1) { return csr << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x73; }
constexpr uint32_t Csrrwi(Reg rd, uint32_t csr, uint32_t imm) {
  return csr << 20 | imm << 15 | 5 << 12 | rd << 7 | 0x73;
}
constexpr uint32_t Csrrsi(Reg rd, uint32_t csr, uint32_t imm) {
  return csr << 20 | imm << 15 | 6 << 12 | rd << 7 | 0x73;
}
constexpr uint32_t Csrrci(Reg rd, uint32_t csr, uint32_t imm) {
  return csr << 20 | imm << 15 | 7 << 12 | rd << 7 | 0x73;
}

inline constexpr uint32_t kNop = 0x00000013;
inline constexpr uint32_t kFence = 0x0ff0000f;
inline constexpr uint32_t kFenceI = 0x0000100f;
inline constexpr uint32_t kEcall = 0x00000073;
inline constexpr uint32_t kEbreak = 0x00100073;
inline constexpr uint32_t kMret = 0x30200073;
inline constexpr uint32_t kWfi = 0x10500073;
inline constexpr uint32_t kIllegal = 0x00000000;

}  // namespace sideband::riscv::as

#endif  // SIDEBAND_SIM_RISCV_TEST_CORE_H_

// SPDX-License-Identifier: Apache-2.0
//
// A decoded instruction, in eight bytes, as the interpreter's loop wants it, and the decoder of the words of RV64IM
// with Zicsr, Zifencei, mret and wfi.
//   const Instruction addi{.op = Op::kAdd, .rd = 5, .rs1 = 5, .rs2 = 0, .imm = -1};
//   const Instruction nop = Decode(0x00000013);
#ifndef SIDEBAND_SIM_RISCV_INSTRUCTION_H_
#define SIDEBAND_SIM_RISCV_INSTRUCTION_H_

#include <cstdint>
#include <limits>

namespace sideband::riscv {

// The operations of RV64IM by family: one row has the operation's name, its code in an instruction word, and what it
// does. From these rows come the list of operations, the decoder and the interpreter's loop.
// Source: The RISC-V Instruction Set Manual, volume I, version 20191213, chapters 2, 5, 7 and 24.

// --- What takes more than an expression -----------------------------------------------------------------------------

inline int64_t Signed(uint64_t value) { return static_cast<int64_t>(value); }
inline uint64_t SignExtend32(uint64_t value) { return static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)}); }

// The upper 64 bits of a product: of two signed numbers, of two unsigned ones, of a signed and an unsigned one.
inline uint64_t MulHigh(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<__int128>(Signed(a)) * Signed(b)) >> 64);
}
inline uint64_t MulHighUnsigned(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline uint64_t MulHighSignedUnsigned(uint64_t a, uint64_t b) {
  return MulHighUnsigned(a, b) - (Signed(a) < 0 ? b : 0);
}

// Division by zero and the one overflow have results of their own, and no exception (table 7.1).
template <typename T>
T Quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::numeric_limits<T>::is_signed && b == static_cast<T>(-1)) return static_cast<T>(uint64_t{0} - a);
  return a / b;
}
template <typename T>
T Remainder(T a, T b) {
  if (b == 0) return a;
  if (std::numeric_limits<T>::is_signed && b == static_cast<T>(-1)) return 0;
  return a % b;
}

// --- The rows -------------------------------------------------------------------------------------------------------

// X(name, word, funct7, funct3, result): `word` is 1 for the 32-bit forms of RV64. The operands a and b are 64 bits; b
// is the second register or the immediate.
#define SIDEBAND_RISCV_COMPUTATIONS(X)                                                                \
  X(kAdd, 0, 0x00, 0, a + b)                                                                          \
  X(kSub, 0, 0x20, 0, a - b)                                                                          \
  X(kSll, 0, 0x00, 1, a << (b & 63))                                                                  \
  X(kSlt, 0, 0x00, 2, Signed(a) < Signed(b) ? 1 : 0)                                                  \
  X(kSltu, 0, 0x00, 3, a < b ? 1 : 0)                                                                 \
  X(kXor, 0, 0x00, 4, a ^ b)                                                                          \
  X(kSrl, 0, 0x00, 5, a >> (b & 63))                                                                  \
  X(kSra, 0, 0x20, 5, static_cast<uint64_t>(Signed(a) >> (b & 63)))                                   \
  X(kOr, 0, 0x00, 6, a | b)                                                                           \
  X(kAnd, 0, 0x00, 7, (a & b))                                                                        \
  X(kAddw, 1, 0x00, 0, SignExtend32(a + b))                                                           \
  X(kSubw, 1, 0x20, 0, SignExtend32(a - b))                                                           \
  X(kSllw, 1, 0x00, 1, SignExtend32(a << (b & 31)))                                                   \
  X(kSrlw, 1, 0x00, 5, SignExtend32(static_cast<uint32_t>(a) >> (b & 31)))                            \
  X(kSraw, 1, 0x20, 5, SignExtend32(static_cast<uint64_t>(static_cast<int32_t>(a) >> (b & 31))))      \
  X(kMul, 0, 0x01, 0, (a * b))                                                                        \
  X(kMulh, 0, 0x01, 1, MulHigh(a, b))                                                                 \
  X(kMulhsu, 0, 0x01, 2, MulHighSignedUnsigned(a, b))                                                 \
  X(kMulhu, 0, 0x01, 3, MulHighUnsigned(a, b))                                                        \
  X(kDiv, 0, 0x01, 4, static_cast<uint64_t>(Quotient(Signed(a), Signed(b))))                          \
  X(kDivu, 0, 0x01, 5, Quotient(a, b))                                                                \
  X(kRem, 0, 0x01, 6, static_cast<uint64_t>(Remainder(Signed(a), Signed(b))))                         \
  X(kRemu, 0, 0x01, 7, Remainder(a, b))                                                               \
  X(kMulw, 1, 0x01, 0, SignExtend32((a * b)))                                                         \
  X(kDivw, 1, 0x01, 4,                                                                                \
    SignExtend32(static_cast<uint32_t>(Quotient(static_cast<int32_t>(a), static_cast<int32_t>(b)))))  \
  X(kDivuw, 1, 0x01, 5, SignExtend32(Quotient(static_cast<uint32_t>(a), static_cast<uint32_t>(b))))   \
  X(kRemw, 1, 0x01, 6,                                                                                \
    SignExtend32(static_cast<uint32_t>(Remainder(static_cast<int32_t>(a), static_cast<int32_t>(b))))) \
  X(kRemuw, 1, 0x01, 7, SignExtend32(Remainder(static_cast<uint32_t>(a), static_cast<uint32_t>(b))))

// X(name, funct3, condition): of the registers a and c.
#define SIDEBAND_RISCV_BRANCHES(X)   \
  X(kBeq, 0, a == c)                 \
  X(kBne, 1, a != c)                 \
  X(kBlt, 4, Signed(a) < Signed(c))  \
  X(kBge, 5, Signed(a) >= Signed(c)) \
  X(kBltu, 6, a < c)                 \
  X(kBgeu, 7, a >= c)

// X(name, funct3, type): the type is extended to 64 bits, with its sign if it has one.
#define SIDEBAND_RISCV_LOADS(X) \
  X(kLb, 0, int8_t)             \
  X(kLh, 1, int16_t)            \
  X(kLw, 2, int32_t)            \
  X(kLd, 3, int64_t)            \
  X(kLbu, 4, uint8_t)           \
  X(kLhu, 5, uint16_t)          \
  X(kLwu, 6, uint32_t)

// X(name, funct3, type)
#define SIDEBAND_RISCV_STORES(X) \
  X(kSb, 0, uint8_t)             \
  X(kSh, 1, uint16_t)            \
  X(kSw, 2, uint32_t)            \
  X(kSd, 3, uint64_t)

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

// Writes to register x0 go here, so that no instruction needs a branch for it.
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

// Op::kIllegal for every other word, also of other extensions. Never Op::kUndecoded.
Instruction Decode(uint32_t word);

}  // namespace sideband::riscv

#endif  // SIDEBAND_SIM_RISCV_INSTRUCTION_H_

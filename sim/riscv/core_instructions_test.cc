// SPDX-License-Identifier: Apache-2.0
//
// The computations of RV64IM, by rows of operands and results; branches, jumps, loads, stores and fences. The results
// of computations come from Python's integers, which have no size, by the manual's definitions.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/riscv/csr.h"
#include "sim/riscv/test_core.h"

namespace sideband::riscv {
namespace {

const struct {
  const char* name;
  uint32_t (*word)(as::Reg rd, as::Reg rs1, as::Reg rs2);
  uint64_t a;
  uint64_t b;
  uint64_t result;
} kRegisterRows[] = {
    {"add", as::Add, 0, 0, 0},
    {"add", as::Add, 1, 1, 2},
    {"add", as::Add, 0xffffffffffffffff, 1, 0},
    {"add", as::Add, 0x7fffffffffffffff, 1, 0x8000000000000000},
    {"add", as::Add, 0x8000000000000000, 0x8000000000000000, 0},
    {"add", as::Add, 0x7fffffff, 1, 0x80000000},
    {"add", as::Add, 0x123456789abcdef, 0xfedcba9876543210, 0xffffffffffffffff},
    {"sub", as::Sub, 0, 0, 0},
    {"sub", as::Sub, 0, 1, 0xffffffffffffffff},
    {"sub", as::Sub, 0x8000000000000000, 1, 0x7fffffffffffffff},
    {"sub", as::Sub, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000001},
    {"sub", as::Sub, 0x7fffffffffffffff, 0xffffffffffffffff, 0x8000000000000000},
    {"sub", as::Sub, 0x80000000, 1, 0x7fffffff},
    {"sub", as::Sub, 0x123456789abcdef, 0xfedcba9876543210, 0x2468acf13579bdf},
    {"sll", as::Sll, 1, 0, 1},
    {"sll", as::Sll, 1, 31, 0x80000000},
    {"sll", as::Sll, 1, 32, 0x100000000},
    {"sll", as::Sll, 1, 63, 0x8000000000000000},
    {"sll", as::Sll, 1, 64, 1},
    {"sll", as::Sll, 0x123456789abcdef, 0xffffffffffffffff, 0x8000000000000000},
    {"sll", as::Sll, 0xfedcba9876543210, 4, 0xedcba98765432100},
    {"sll", as::Sll, 0x123456789abcdef, 0x1000000000000008, 0x23456789abcdef00},
    {"slt", as::Slt, 0, 0, 0},
    {"slt", as::Slt, 0xffffffffffffffff, 0, 1},
    {"slt", as::Slt, 0, 0xffffffffffffffff, 0},
    {"slt", as::Slt, 0x8000000000000000, 0x7fffffffffffffff, 1},
    {"slt", as::Slt, 0x7fffffffffffffff, 0x8000000000000000, 0},
    {"slt", as::Slt, 1, 2, 1},
    {"slt", as::Slt, 0xffffffff80000000, 0x7fffffff, 1},
    {"sltu", as::Sltu, 0, 0, 0},
    {"sltu", as::Sltu, 0xffffffffffffffff, 0, 0},
    {"sltu", as::Sltu, 0, 0xffffffffffffffff, 1},
    {"sltu", as::Sltu, 0x8000000000000000, 0x7fffffffffffffff, 0},
    {"sltu", as::Sltu, 0x7fffffffffffffff, 0x8000000000000000, 1},
    {"sltu", as::Sltu, 1, 2, 1},
    {"sltu", as::Sltu, 0xffffffff80000000, 0x7fffffff, 0},
    {"xor", as::Xor, 0, 0, 0},
    {"xor", as::Xor, 0xffffffffffffffff, 0x123456789abcdef, 0xfedcba9876543210},
    {"xor", as::Xor, 0x123456789abcdef, 0xfedcba9876543210, 0xffffffffffffffff},
    {"xor", as::Xor, 0x8000000000000000, 0x7fffffffffffffff, 0xffffffffffffffff},
    {"srl", as::Srl, 0x8000000000000000, 0, 0x8000000000000000},
    {"srl", as::Srl, 0x8000000000000000, 1, 0x4000000000000000},
    {"srl", as::Srl, 0x8000000000000000, 63, 1},
    {"srl", as::Srl, 0x8000000000000000, 64, 0x8000000000000000},
    {"srl", as::Srl, 0xfedcba9876543210, 4, 0xfedcba987654321},
    {"srl", as::Srl, 0x123456789abcdef, 0xffffffffffffffff, 0},
    {"srl", as::Srl, 0xffffffffffffffff, 32, 0xffffffff},
    {"srl", as::Srl, 0xfedcba9876543210, 0x1000000000000008, 0xfedcba98765432},
    {"sra", as::Sra, 0x8000000000000000, 0, 0x8000000000000000},
    {"sra", as::Sra, 0x8000000000000000, 1, 0xc000000000000000},
    {"sra", as::Sra, 0x8000000000000000, 63, 0xffffffffffffffff},
    {"sra", as::Sra, 0x8000000000000000, 64, 0x8000000000000000},
    {"sra", as::Sra, 0xfedcba9876543210, 4, 0xffedcba987654321},
    {"sra", as::Sra, 0x123456789abcdef, 60, 0},
    {"sra", as::Sra, 0xffffffffffffffff, 32, 0xffffffffffffffff},
    {"sra", as::Sra, 0x7fffffffffffffff, 62, 1},
    {"or", as::Or, 0, 0, 0},
    {"or", as::Or, 0xffffffffffffffff, 0x123456789abcdef, 0xffffffffffffffff},
    {"or", as::Or, 0x123456789abcdef, 0xfedcba9876543210, 0xffffffffffffffff},
    {"or", as::Or, 0x8000000000000000, 0x7fffffffffffffff, 0xffffffffffffffff},
    {"and", as::And, 0, 0xffffffffffffffff, 0},
    {"and", as::And, 0xffffffffffffffff, 0x123456789abcdef, 0x123456789abcdef},
    {"and", as::And, 0x123456789abcdef, 0xfedcba9876543210, 0},
    {"and", as::And, 0x8000000000000000, 0x7fffffffffffffff, 0},
    {"addw", as::Addw, 0, 0, 0},
    {"addw", as::Addw, 0x7fffffff, 1, 0xffffffff80000000},
    {"addw", as::Addw, 0x80000000, 0x80000000, 0},
    {"addw", as::Addw, 0xffffffff, 1, 0},
    {"addw", as::Addw, 0xffffffffffffffff, 0xffffffffffffffff, 0xfffffffffffffffe},
    {"addw", as::Addw, 0x8000000000000000, 1, 1},
    {"addw", as::Addw, 0x123456789abcdef, 0xfedcba9876543210, 0xffffffffffffffff},
    {"addw", as::Addw, 0x100000000, 0x7fffffff, 0x7fffffff},
    {"subw", as::Subw, 0, 1, 0xffffffffffffffff},
    {"subw", as::Subw, 0x80000000, 1, 0x7fffffff},
    {"subw", as::Subw, 0xffffffff80000000, 1, 0x7fffffff},
    {"subw", as::Subw, 0, 0x80000000, 0xffffffff80000000},
    {"subw", as::Subw, 0x100000000, 1, 0xffffffffffffffff},
    {"subw", as::Subw, 0x123456789abcdef, 0xfedcba9876543210, 0x13579bdf},
    {"sllw", as::Sllw, 1, 0, 1},
    {"sllw", as::Sllw, 1, 31, 0xffffffff80000000},
    {"sllw", as::Sllw, 1, 32, 1},
    {"sllw", as::Sllw, 1, 33, 2},
    {"sllw", as::Sllw, 0x123456789abcdef, 4, 0xffffffff9abcdef0},
    {"sllw", as::Sllw, 0xffffffff, 63, 0xffffffff80000000},
    {"sllw", as::Sllw, 0xfedcba9876543210, 16, 0x32100000},
    {"srlw", as::Srlw, 0x80000000, 0, 0xffffffff80000000},
    {"srlw", as::Srlw, 0xffffffff80000000, 0, 0xffffffff80000000},
    {"srlw", as::Srlw, 0xffffffff80000000, 1, 0x40000000},
    {"srlw", as::Srlw, 0xffffffffffffffff, 31, 1},
    {"srlw", as::Srlw, 0xffffffffffffffff, 32, 0xffffffffffffffff},
    {"srlw", as::Srlw, 0x123456789abcdef, 4, 0x89abcde},
    {"srlw", as::Srlw, 0xffffffff00000001, 1, 0},
    {"sraw", as::Sraw, 0x80000000, 0, 0xffffffff80000000},
    {"sraw", as::Sraw, 0x80000000, 1, 0xffffffffc0000000},
    {"sraw", as::Sraw, 0x80000000, 31, 0xffffffffffffffff},
    {"sraw", as::Sraw, 0x80000000, 32, 0xffffffff80000000},
    {"sraw", as::Sraw, 0x7fffffff, 30, 1},
    {"sraw", as::Sraw, 0x123456789abcdef, 4, 0xfffffffff89abcde},
    {"sraw", as::Sraw, 0xffffffff7fffffff, 1, 0x3fffffff},
    {"mul", as::Mul, 0, 0xffffffffffffffff, 0},
    {"mul", as::Mul, 0xffffffffffffffff, 0xffffffffffffffff, 1},
    {"mul", as::Mul, 0x8000000000000000, 2, 0},
    {"mul", as::Mul, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000},
    {"mul", as::Mul, 0x123456789abcdef, 0xfedcba9876543210, 0x2236d88fe5618cf0},
    {"mul", as::Mul, 0x100000000, 0x100000000, 0},
    {"mul", as::Mul, 3, 7, 21},
    {"mulh", as::Mulh, 0, 0xffffffffffffffff, 0},
    {"mulh", as::Mulh, 0xffffffffffffffff, 0xffffffffffffffff, 0},
    {"mulh", as::Mulh, 0x8000000000000000, 0x8000000000000000, 0x4000000000000000},
    {"mulh", as::Mulh, 0x8000000000000000, 0xffffffffffffffff, 0},
    {"mulh", as::Mulh, 0x7fffffffffffffff, 0x7fffffffffffffff, 0x3fffffffffffffff},
    {"mulh", as::Mulh, 0x123456789abcdef, 0xfedcba9876543210, 0xfffeb49923cc0953},
    {"mulh", as::Mulh, 0xffffffffffffffff, 1, 0xffffffffffffffff},
    {"mulh", as::Mulh, 0x7fffffffffffffff, 0x8000000000000000, 0xc000000000000000},
    {"mulhsu", as::Mulhsu, 0, 0xffffffffffffffff, 0},
    {"mulhsu", as::Mulhsu, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff},
    {"mulhsu", as::Mulhsu, 0x8000000000000000, 0x8000000000000000, 0xc000000000000000},
    {"mulhsu", as::Mulhsu, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000},
    {"mulhsu", as::Mulhsu, 0xffffffffffffffff, 1, 0xffffffffffffffff},
    {"mulhsu", as::Mulhsu, 1, 0xffffffffffffffff, 0},
    {"mulhsu", as::Mulhsu, 0x123456789abcdef, 0xfedcba9876543210, 0x121fa00ad77d742},
    {"mulhsu", as::Mulhsu, 0xfedcba9876543210, 0x123456789abcdef, 0xfffeb49923cc0953},
    {"mulhsu", as::Mulhsu, 0x7fffffffffffffff, 0xffffffffffffffff, 0x7ffffffffffffffe},
    {"mulhsu", as::Mulhsu, 0xffffffffffffffff, 0, 0},
    {"mulhu", as::Mulhu, 0, 0xffffffffffffffff, 0},
    {"mulhu", as::Mulhu, 0xffffffffffffffff, 0xffffffffffffffff, 0xfffffffffffffffe},
    {"mulhu", as::Mulhu, 0x8000000000000000, 0x8000000000000000, 0x4000000000000000},
    {"mulhu", as::Mulhu, 0x8000000000000000, 2, 1},
    {"mulhu", as::Mulhu, 0xffffffffffffffff, 1, 0},
    {"mulhu", as::Mulhu, 0x123456789abcdef, 0xfedcba9876543210, 0x121fa00ad77d742},
    {"mulhu", as::Mulhu, 0x100000000, 0x100000000, 1},
    {"div", as::Div, 20, 6, 3},
    {"div", as::Div, 0xffffffffffffffec, 6, 0xfffffffffffffffd},
    {"div", as::Div, 20, 0xfffffffffffffffa, 0xfffffffffffffffd},
    {"div", as::Div, 0xffffffffffffffec, 0xfffffffffffffffa, 3},
    {"div", as::Div, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000},
    {"div", as::Div, 0x8000000000000000, 1, 0x8000000000000000},
    {"div", as::Div, 0x8000000000000000, 0, 0xffffffffffffffff},
    {"div", as::Div, 0, 0, 0xffffffffffffffff},
    {"div", as::Div, 1, 0, 0xffffffffffffffff},
    {"div", as::Div, 0xffffffffffffffff, 0, 0xffffffffffffffff},
    {"div", as::Div, 0x7fffffffffffffff, 0xffffffffffffffff, 0x8000000000000001},
    {"div", as::Div, 1, 0x8000000000000000, 0},
    {"divu", as::Divu, 20, 6, 3},
    {"divu", as::Divu, 0xffffffffffffffec, 6, 0x2aaaaaaaaaaaaaa7},
    {"divu", as::Divu, 20, 0xfffffffffffffffa, 0},
    {"divu", as::Divu, 0x8000000000000000, 0xffffffffffffffff, 0},
    {"divu", as::Divu, 0x8000000000000000, 1, 0x8000000000000000},
    {"divu", as::Divu, 0x8000000000000000, 0, 0xffffffffffffffff},
    {"divu", as::Divu, 0, 0, 0xffffffffffffffff},
    {"divu", as::Divu, 0xffffffffffffffff, 0, 0xffffffffffffffff},
    {"divu", as::Divu, 0xffffffffffffffff, 0xffffffffffffffff, 1},
    {"divu", as::Divu, 0xffffffffffffffff, 10, 0x1999999999999999},
    {"rem", as::Rem, 20, 6, 2},
    {"rem", as::Rem, 0xffffffffffffffec, 6, 0xfffffffffffffffe},
    {"rem", as::Rem, 20, 0xfffffffffffffffa, 2},
    {"rem", as::Rem, 0xffffffffffffffec, 0xfffffffffffffffa, 0xfffffffffffffffe},
    {"rem", as::Rem, 0x8000000000000000, 0xffffffffffffffff, 0},
    {"rem", as::Rem, 0x8000000000000000, 1, 0},
    {"rem", as::Rem, 0x8000000000000000, 0, 0x8000000000000000},
    {"rem", as::Rem, 0, 0, 0},
    {"rem", as::Rem, 1, 0, 1},
    {"rem", as::Rem, 0x7fffffffffffffff, 0x8000000000000000, 0x7fffffffffffffff},
    {"remu", as::Remu, 20, 6, 2},
    {"remu", as::Remu, 0xffffffffffffffec, 6, 2},
    {"remu", as::Remu, 20, 0xfffffffffffffffa, 20},
    {"remu", as::Remu, 0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000},
    {"remu", as::Remu, 0x8000000000000000, 1, 0},
    {"remu", as::Remu, 0x8000000000000000, 0, 0x8000000000000000},
    {"remu", as::Remu, 0, 0, 0},
    {"remu", as::Remu, 0xffffffffffffffff, 0, 0xffffffffffffffff},
    {"remu", as::Remu, 0xffffffffffffffff, 10, 5},
    {"mulw", as::Mulw, 0, 0xffffffffffffffff, 0},
    {"mulw", as::Mulw, 0xffffffffffffffff, 0xffffffffffffffff, 1},
    {"mulw", as::Mulw, 0x80000000, 2, 0},
    {"mulw", as::Mulw, 0x10000, 0x8000, 0xffffffff80000000},
    {"mulw", as::Mulw, 0x10000, 0x10000, 0},
    {"mulw", as::Mulw, 0x123456789abcdef, 0xfedcba9876543210, 0xffffffffe5618cf0},
    {"mulw", as::Mulw, 0x100000003, 7, 21},
    {"divw", as::Divw, 20, 6, 3},
    {"divw", as::Divw, 0xffffffffffffffec, 6, 0xfffffffffffffffd},
    {"divw", as::Divw, 20, 0xfffffffffffffffa, 0xfffffffffffffffd},
    {"divw", as::Divw, 0xffffffffffffffec, 0xfffffffffffffffa, 3},
    {"divw", as::Divw, 0xffffffff80000000, 0xffffffffffffffff, 0xffffffff80000000},
    {"divw", as::Divw, 0x80000000, 0xffffffff, 0xffffffff80000000},
    {"divw", as::Divw, 0xffffffff80000000, 1, 0xffffffff80000000},
    {"divw", as::Divw, 0x80000000, 0, 0xffffffffffffffff},
    {"divw", as::Divw, 5, 0x100000000, 0xffffffffffffffff},
    {"divw", as::Divw, 0x100000014, 6, 3},
    {"divuw", as::Divuw, 20, 6, 3},
    {"divuw", as::Divuw, 0xffffffffffffffec, 6, 0x2aaaaaa7},
    {"divuw", as::Divuw, 20, 0xfffffffffffffffa, 0},
    {"divuw", as::Divuw, 0xffffffff80000000, 1, 0xffffffff80000000},
    {"divuw", as::Divuw, 0x80000000, 0xffffffffffffffff, 0},
    {"divuw", as::Divuw, 0x80000000, 0, 0xffffffffffffffff},
    {"divuw", as::Divuw, 5, 0x100000000, 0xffffffffffffffff},
    {"divuw", as::Divuw, 0x100000014, 6, 3},
    {"divuw", as::Divuw, 0xffffffffffffffff, 1, 0xffffffffffffffff},
    {"remw", as::Remw, 20, 6, 2},
    {"remw", as::Remw, 0xffffffffffffffec, 6, 0xfffffffffffffffe},
    {"remw", as::Remw, 20, 0xfffffffffffffffa, 2},
    {"remw", as::Remw, 0xffffffffffffffec, 0xfffffffffffffffa, 0xfffffffffffffffe},
    {"remw", as::Remw, 0xffffffff80000000, 0xffffffffffffffff, 0},
    {"remw", as::Remw, 0x80000000, 0xffffffff, 0},
    {"remw", as::Remw, 0x80000000, 0, 0xffffffff80000000},
    {"remw", as::Remw, 0x1ffffffff, 0, 0xffffffffffffffff},
    {"remw", as::Remw, 0x100000014, 6, 2},
    {"remuw", as::Remuw, 20, 6, 2},
    {"remuw", as::Remuw, 0xffffffffffffffec, 6, 2},
    {"remuw", as::Remuw, 20, 0xfffffffffffffffa, 20},
    {"remuw", as::Remuw, 0xffffffff80000000, 0xffffffffffffffff, 0xffffffff80000000},
    {"remuw", as::Remuw, 0x80000000, 0, 0xffffffff80000000},
    {"remuw", as::Remuw, 0x1ffffffff, 0, 0xffffffffffffffff},
    {"remuw", as::Remuw, 0x1fffffffe, 0xffffffff, 0xfffffffffffffffe},
    {"remuw", as::Remuw, 0x100000014, 6, 2},
};

const struct {
  const char* name;
  uint32_t (*word)(as::Reg rd, as::Reg rs1, int32_t imm);
  uint64_t a;
  int32_t imm;
  uint64_t result;
} kImmediateRows[] = {
    {"addi", as::Addi, 0, 0, 0},
    {"addi", as::Addi, 0, 2047, 0x7ff},
    {"addi", as::Addi, 0, -2048, 0xfffffffffffff800},
    {"addi", as::Addi, 0x7fffffffffffffff, 1, 0x8000000000000000},
    {"addi", as::Addi, 0xffffffffffffffff, 1, 0},
    {"addi", as::Addi, 0x8000000000000000, -1, 0x7fffffffffffffff},
    {"addi", as::Addi, 0x123456789abcdef, -17, 0x123456789abcdde},
    {"slti", as::Slti, 0, 0, 0},
    {"slti", as::Slti, 0xffffffffffffffff, 0, 1},
    {"slti", as::Slti, 0, -1, 0},
    {"slti", as::Slti, 0x8000000000000000, -2048, 1},
    {"slti", as::Slti, 0x7fffffffffffffff, 2047, 0},
    {"slti", as::Slti, 5, 6, 1},
    {"sltiu", as::Sltiu, 0, 0, 0},
    {"sltiu", as::Sltiu, 0, 1, 1},
    {"sltiu", as::Sltiu, 1, 1, 0},
    {"sltiu", as::Sltiu, 0xffffffffffffffff, -1, 0},
    {"sltiu", as::Sltiu, 0, -1, 1},
    {"sltiu", as::Sltiu, 0xfffffffffffff7ff, -2048, 1},
    {"xori", as::Xori, 0x123456789abcdef, -1, 0xfedcba9876543210},
    {"xori", as::Xori, 0x123456789abcdef, 1365, 0x123456789abc8ba},
    {"xori", as::Xori, 0, -2048, 0xfffffffffffff800},
    {"ori", as::Ori, 0x123456789abcdef, -1, 0xffffffffffffffff},
    {"ori", as::Ori, 0x123456789abcdef, 1365, 0x123456789abcdff},
    {"ori", as::Ori, 0, -2048, 0xfffffffffffff800},
    {"andi", as::Andi, 0x123456789abcdef, -1, 0x123456789abcdef},
    {"andi", as::Andi, 0x123456789abcdef, 1365, 0x545},
    {"andi", as::Andi, 0xffffffffffffffff, -2048, 0xfffffffffffff800},
    {"slli", as::Slli, 1, 0, 1},
    {"slli", as::Slli, 1, 32, 0x100000000},
    {"slli", as::Slli, 1, 63, 0x8000000000000000},
    {"slli", as::Slli, 0x123456789abcdef, 4, 0x123456789abcdef0},
    {"srli", as::Srli, 0x8000000000000000, 0, 0x8000000000000000},
    {"srli", as::Srli, 0x8000000000000000, 32, 0x80000000},
    {"srli", as::Srli, 0x8000000000000000, 63, 1},
    {"srli", as::Srli, 0xfedcba9876543210, 4, 0xfedcba987654321},
    {"srai", as::Srai, 0x8000000000000000, 0, 0x8000000000000000},
    {"srai", as::Srai, 0x8000000000000000, 32, 0xffffffff80000000},
    {"srai", as::Srai, 0x8000000000000000, 63, 0xffffffffffffffff},
    {"srai", as::Srai, 0xfedcba9876543210, 4, 0xffedcba987654321},
    {"srai", as::Srai, 0x123456789abcdef, 4, 0x123456789abcde},
    {"addiw", as::Addiw, 0x7fffffff, 1, 0xffffffff80000000},
    {"addiw", as::Addiw, 0x80000000, -1, 0x7fffffff},
    {"addiw", as::Addiw, 0xffffffff, 0, 0xffffffffffffffff},
    {"addiw", as::Addiw, 0x100000000, -1, 0xffffffffffffffff},
    {"addiw", as::Addiw, 0x123456789abcdef, 0, 0xffffffff89abcdef},
    {"slliw", as::Slliw, 1, 31, 0xffffffff80000000},
    {"slliw", as::Slliw, 0x123456789abcdef, 4, 0xffffffff9abcdef0},
    {"slliw", as::Slliw, 0xffffffff00000001, 0, 1},
    {"srliw", as::Srliw, 0xffffffff80000000, 0, 0xffffffff80000000},
    {"srliw", as::Srliw, 0xffffffff80000000, 31, 1},
    {"srliw", as::Srliw, 0xffffffff00000010, 4, 1},
    {"sraiw", as::Sraiw, 0x80000000, 0, 0xffffffff80000000},
    {"sraiw", as::Sraiw, 0x80000000, 31, 0xffffffffffffffff},
    {"sraiw", as::Sraiw, 0xffffffff7fffffff, 4, 0x7ffffff},
};

TEST(CoreComputationTest, RegistersWithRegisters) {
  for (const auto& row : kRegisterRows) {
    TestCore test({row.word(3, 1, 2)});
    test.core().set_x(1, row.a);
    test.core().set_x(2, row.b);
    test.Step();
    EXPECT_EQ(test.core().x(3), row.result) << row.name << " " << row.a << ", " << row.b;
    EXPECT_EQ(test.core().x(1), row.a) << row.name;
    EXPECT_EQ(test.core().x(2), row.b) << row.name;
    EXPECT_EQ(test.words_passed(), 1u) << row.name;
    EXPECT_EQ(test.core().instructions(), 1u) << row.name;
  }
}

TEST(CoreComputationTest, TheDestinationMayBeASource) {
  for (const auto& row : kRegisterRows) {
    for (const as::Reg rd : {1, 2}) {
      TestCore test({row.word(rd, 1, 2)});
      test.core().set_x(1, row.a);
      test.core().set_x(2, row.b);
      test.Step();
      EXPECT_EQ(test.core().x(rd), row.result) << row.name;
    }
  }
}

TEST(CoreComputationTest, RegistersWithImmediates) {
  for (const auto& row : kImmediateRows) {
    for (const as::Reg rd : {31, 1}) {
      TestCore test({row.word(rd, 1, row.imm)});
      test.core().set_x(1, row.a);
      test.Step();
      EXPECT_EQ(test.core().x(rd), row.result) << row.name << " " << row.a << ", " << row.imm;
    }
  }
}

TEST(CoreComputationTest, RegisterZeroStaysZero) {
  TestCore test({as::Addi(0, 0, 5), as::Add(3, 0, 0), as::Lui(0, 0xfffff), as::Mul(0, 1, 1), as::Addi(4, 0, 7)});
  test.core().set_x(0, 9);
  test.core().set_x(1, 9);
  test.core().set_x(3, 1);
  test.Step(5);
  EXPECT_EQ(test.core().x(0), 0u);
  EXPECT_EQ(test.core().x(3), 0u);
  EXPECT_EQ(test.core().x(4), 7u);
}

TEST(CoreComputationTest, EveryRegisterCanBeBothSourceAndDestination) {
  for (as::Reg reg = 1; reg < 32; ++reg) {
    TestCore test({as::Addi(reg, 0, 100), as::Add(reg, reg, reg)});
    test.Step(2);
    EXPECT_EQ(test.core().x(reg), 200u) << reg;
  }
}

TEST(CoreComputationTest, UpperImmediates) {
  const struct {
    uint32_t word;
    uint64_t result;
  } kRows[] = {
      {as::Lui(5, 0), 0},
      {as::Lui(5, 1), 0x1000},
      {as::Lui(5, 0x7ffff), 0x7ffff000},
      {as::Lui(5, 0x80000), 0xffffffff80000000},  // the sign is extended
      {as::Lui(5, 0xfffff), 0xfffffffffffff000},
      {as::Auipc(5, 0), kTestBase},
      {as::Auipc(5, 1), kTestBase + 0x1000},
      {as::Auipc(5, 0xfffff), kTestBase - 0x1000},
      {as::Auipc(5, 0x80000), kTestBase + 0xffffffff80000000},
  };
  for (const auto& row : kRows) {
    TestCore test({row.word});
    test.Step();
    EXPECT_EQ(test.core().x(5), row.result) << std::hex << row.word;
  }
}

constexpr uint64_t kMinusOne = ~uint64_t{0};
constexpr uint64_t kMin = uint64_t{1} << 63;
constexpr uint64_t kData = kTestBase + 0x1000;

TEST(CoreControlTest, BranchesCompare) {
  const struct {
    const char* name;
    uint32_t (*word)(as::Reg rs1, as::Reg rs2, int32_t offset);
    uint64_t a;
    uint64_t b;
    bool taken;
  } kRows[] = {
      {"beq", as::Beq, 0, 0, true},
      {"beq", as::Beq, 1, 0, false},
      {"beq", as::Beq, kMin, 0, false},  // all 64 bits
      {"bne", as::Bne, 0, 0, false},
      {"bne", as::Bne, kMin, 0, true},
      {"blt", as::Blt, 0, 1, true},
      {"blt", as::Blt, 1, 1, false},
      {"blt", as::Blt, kMinusOne, 0, true},
      {"blt", as::Blt, 0, kMinusOne, false},
      {"blt", as::Blt, kMin, kMin - 1, true},
      {"bge", as::Bge, 1, 1, true},
      {"bge", as::Bge, 0, 1, false},
      {"bge", as::Bge, 0, kMinusOne, true},
      {"bge", as::Bge, kMin, kMin - 1, false},
      {"bltu", as::Bltu, 0, kMinusOne, true},
      {"bltu", as::Bltu, kMinusOne, 0, false},
      {"bltu", as::Bltu, 1, 1, false},
      {"bltu", as::Bltu, kMin - 1, kMin, true},
      {"bgeu", as::Bgeu, kMinusOne, 0, true},
      {"bgeu", as::Bgeu, 1, 1, true},
      {"bgeu", as::Bgeu, 0, kMinusOne, false},
  };
  for (const auto& row : kRows) {
    TestCore test({row.word(1, 2, 12)});
    test.core().set_x(1, row.a);
    test.core().set_x(2, row.b);
    test.Step();
    EXPECT_EQ(test.words_passed(), row.taken ? 3u : 1u) << row.name << " " << row.a << ", " << row.b;
    EXPECT_EQ(test.core().instructions(), 1u);
  }
}

TEST(CoreControlTest, JumpsReachAsFarAsTheirOffsets) {
  constexpr uint64_t kMiddle = kTestBase + 0x8000;
  const struct {
    uint32_t word;
    uint64_t target;
  } kRows[] = {
      {as::Beq(0, 0, -4096), kMiddle - 4096}, {as::Beq(0, 0, 4092), kMiddle + 4092},
      {as::Beq(0, 0, 2048), kMiddle + 2048},  {as::Beq(0, 0, 0), kMiddle},
      {as::Jal(1, 0x7ff8), kMiddle + 0x7ff8}, {as::Jal(1, -0x8000), kTestBase},
      {as::Jal(1, 0x800), kMiddle + 0x800},   {as::Jal(1, 0), kMiddle},
  };
  for (const auto& row : kRows) {
    TestCore test({}, {.pc = kMiddle});
    test.memory().Store(kMiddle, row.word);
    test.Step();
    EXPECT_EQ(test.core().pc(), row.target) << std::hex << row.word;
  }
  // The bits of a far offset, into memory that does not exist.
  for (const int32_t offset : {0xffffc, -0x100000, 0x80000, 0x55554}) {
    TestCore test({as::Jal(1, offset)});
    test.Step();
    EXPECT_EQ(test.core().pc(), kTestBase + static_cast<uint64_t>(int64_t{offset})) << offset;
    EXPECT_EQ(test.core().x(1), kTestBase + 4);
  }
}

TEST(CoreControlTest, JumpsLink) {
  TestCore test({as::Jal(1, 8), as::kNop, as::Jalr(2, 1, 0)});
  test.Step(2);
  EXPECT_EQ(test.core().x(1), kTestBase + 4);
  EXPECT_EQ(test.core().x(2), kTestBase + 12);
  EXPECT_EQ(test.core().pc(), kTestBase + 4);
}

TEST(CoreControlTest, JalrClearsTheLowestBitAndMayReadItsDestination) {
  TestCore test({as::Jalr(1, 1, 1)});
  test.core().set_x(1, kTestBase + 16);
  test.Step();
  EXPECT_EQ(test.core().pc(), kTestBase + 16);
  EXPECT_EQ(test.core().x(1), kTestBase + 4);

  TestCore negative({as::Jalr(0, 1, -2048)});
  negative.core().set_x(1, kTestBase + 2048 + 4);
  negative.Step();
  EXPECT_EQ(negative.core().pc(), kTestBase + 4);
}

TEST(CoreControlTest, LoadsExtendTheirSign) {
  const struct {
    const char* name;
    uint32_t (*word)(as::Reg rd, as::Reg base, int32_t imm);
    uint64_t result;
  } kRows[] = {
      {"lb", as::Lb, 0xffffffffffffff88}, {"lbu", as::Lbu, 0x88},
      {"lh", as::Lh, 0xffffffffffff8988}, {"lhu", as::Lhu, 0x8988},
      {"lw", as::Lw, 0xffffffff8b8a8988}, {"lwu", as::Lwu, 0x8b8a8988},
      {"ld", as::Ld, 0x8f8e8d8c8b8a8988},
  };
  for (const auto& row : kRows) {
    for (const int32_t offset : {0, 8, -8, 2040, -2048}) {
      TestCore test({row.word(2, 1, offset)});
      test.core().set_x(1, kData - static_cast<uint64_t>(int64_t{offset}));
      test.memory().Store<uint64_t>(kData, 0x8f8e8d8c8b8a8988);
      test.Step();
      EXPECT_EQ(test.core().x(2), row.result) << row.name << " " << offset;
    }
  }
}

TEST(CoreControlTest, StoresWriteTheirBytesOnly) {
  const struct {
    const char* name;
    uint32_t (*word)(as::Reg value, as::Reg base, int32_t imm);
    int32_t offset;
    uint64_t result;
  } kRows[] = {
      {"sb", as::Sb, 0, 0xffffffffffffff88}, {"sb", as::Sb, 7, 0x88ffffffffffffff},
      {"sh", as::Sh, 0, 0xffffffffffff8988}, {"sh", as::Sh, 6, 0x8988ffffffffffff},
      {"sw", as::Sw, 0, 0xffffffff8b8a8988}, {"sw", as::Sw, 4, 0x8b8a8988ffffffff},
      {"sd", as::Sd, 0, 0x8f8e8d8c8b8a8988},
  };
  for (const auto& row : kRows) {
    for (const int32_t further : {0, 1024, -2048}) {
      TestCore test({row.word(2, 1, row.offset + further)});
      test.core().set_x(1, kData - static_cast<uint64_t>(int64_t{further}));
      test.core().set_x(2, 0x8f8e8d8c8b8a8988);
      for (const uint64_t address : {kData - 8, kData, kData + 8}) test.memory().Store(address, kMinusOne);
      test.Step();
      EXPECT_EQ(test.memory().Load<uint64_t>(kData), row.result) << row.name << " " << row.offset;
      EXPECT_EQ(test.memory().Load<uint64_t>(kData - 8), kMinusOne);
      EXPECT_EQ(test.memory().Load<uint64_t>(kData + 8), kMinusOne);
    }
  }
}

TEST(CoreControlTest, TheLastBytesOfTheMemoryCanBeUsed) {
  TestCore test({as::Sd(2, 1, -8), as::Lb(3, 1, -1), as::Lhu(4, 1, -2), as::Lwu(5, 1, -4)});
  test.core().set_x(1, kTestEnd);
  test.core().set_x(2, 0x8f8e8d8c8b8a8988);
  test.Step(4);
  EXPECT_EQ(test.core().x(3), 0xffffffffffffff8f);
  EXPECT_EQ(test.core().x(4), 0x8f8eu);
  EXPECT_EQ(test.core().x(5), 0x8f8e8d8cu);
  EXPECT_EQ(test.core().instructions(), 4u);
}

TEST(CoreControlTest, LoadsToRegisterZeroStillAccessTheMemory) {
  TestCore test({as::Ld(0, 1, 0), as::Ld(0, 0, 0)});
  test.core().set_x(1, kData);
  test.memory().Store(kData, kMinusOne);
  test.Step();
  EXPECT_EQ(test.core().x(0), 0u);
  EXPECT_EQ(test.words_passed(), 1u);
  test.Step();
  EXPECT_EQ(test.core().instructions(), 1u) << "an access fault";
}

TEST(CoreControlTest, FencesAndWfiHaveNoEffect) {
  TestCore test({as::kFence, as::kFenceI, as::kWfi, as::TypeI(0x0f, 0, 31, 31, -1)});  // reserved fields are ignored
  test.Step(4);
  EXPECT_EQ(test.words_passed(), 4u);
  EXPECT_EQ(test.core().instructions(), 4u);
  EXPECT_EQ(test.core().x(31), 0u);
}

// Zifencei: a store to an instruction that has been executed is seen after fence.i.
TEST(CoreControlTest, StoresToInstructionsAreSeenAfterFenceI) {
  const std::vector<uint32_t> words = {
      as::Addi(5, 5, 1),                      // replaced by addi x5, x5, 100
      as::Sw(2, 1, 0),   as::Bne(6, 0, 8),    // the second time
      as::kNop,                               // or fence.i
      as::Addi(6, 6, 1), as::Blt(6, 7, -20),  // once
  };
  for (const bool fenced : {false, true}) {
    TestCore test(words);
    if (fenced) test.memory().Store(kTestBase + 12, as::kFenceI);
    test.core().set_x(1, kTestBase);
    test.core().set_x(2, as::Addi(5, 5, 100));
    test.core().set_x(7, 2);
    test.Step(11);
    EXPECT_EQ(test.words_passed(), 6u);
    EXPECT_EQ(test.core().x(5), fenced ? 101u : 2u);
  }
}

TEST(CoreControlTest, ALoopTakesACyclePerInstruction) {
  TestCore test({as::Addi(1, 0, 1000), as::Addi(1, 1, -1), as::Bne(1, 0, -4), as::Csrrwi(0, kMexit, 3)});
  test.Step(1'000'000);
  ASSERT_TRUE(test.core().halt());
  EXPECT_EQ(*test.core().halt(), (Halt{Halt::Reason::kExited, 3, kTestBase + 12}));
  EXPECT_EQ(test.core().instructions(), 2002u);
  EXPECT_EQ(test.core().cycle(), 2002u);
}

}  // namespace
}  // namespace sideband::riscv

# SPDX-License-Identifier: Apache-2.0
# Each instruction of RV32I, with values at their edges. Result: the number of checks. A check that fails ends the program
# with an illegal instruction.
.macro check register, value
  li    t6, \value
  beq   \register, t6, 1f
  .word 0
1:
  addi  s11, s11, 1
.endm
.macro check_op operation, a, b, value
  li    a1, \a
  li    a2, \b
  \operation a0, a1, a2
  check a0, \value
.endm
.macro check_immediate operation, a, b, value
  li    a1, \a
  \operation a0, a1, \b
  check a0, \value
.endm
.macro check_branch operation, a, b, taken
  li    a0, 0
  li    a1, \a
  li    a2, \b
  \operation a1, a2, 2f
  li    a0, 1
2:
  check a0, 1 - \taken
.endm
start:
  auipc s0, 0
  li    s11, 0

  li    x0, 5           # x0 stays 0
  check x0, 0
  lui   a0, 0xfffff
  check a0, 0xfffff000

  check_op add, 0x7fffffff, 1, 0x80000000
  check_op add, -1, -1, -2
  check_op sub, 0, 1, -1
  check_op sub, 0x80000000, 1, 0x7fffffff
  check_op sll, 1, 31, 0x80000000
  check_op sll, 0x12345678, 36, 0x23456780  # of the low five bits
  check_op srl, 0x80000000, 31, 1
  check_op srl, -1, 0, -1
  check_op sra, 0x80000000, 31, -1
  check_op sra, 0x7fffffff, 4, 0x07ffffff
  check_op slt, -1, 0, 1
  check_op slt, 0x7fffffff, 0x80000000, 0
  check_op slt, 0x80000000, 0x7fffffff, 1
  check_op sltu, -1, 0, 0
  check_op sltu, 0, -1, 1
  check_op sltu, 7, 7, 0
  check_op xor, 0x0ff0, 0xffff, 0xf00f
  check_op or, 0x0ff0, 0xf00f, 0xffff
  check_op and, 0x0ff0, 0xff00, 0x0f00

  check_immediate addi, 0, -2048, 0xfffff800
  check_immediate addi, -1, 2047, 2046
  check_immediate slti, -5, -4, 1
  check_immediate slti, 5, -4, 0
  check_immediate sltiu, 5, -4, 1
  check_immediate xori, 0x55, -1, 0xffffffaa
  check_immediate ori, 0x50, 0x0f, 0x5f
  check_immediate andi, -1, 0x7f0, 0x7f0
  check_immediate slli, 3, 30, 0xc0000000
  check_immediate srli, 0xc0000000, 30, 3
  check_immediate srai, 0xc0000000, 30, -1

  check_branch beq, 5, 5, 1
  check_branch beq, 5, 6, 0
  check_branch bne, 5, 6, 1
  check_branch bne, -1, -1, 0
  check_branch blt, -1, 0, 1
  check_branch blt, 0, -1, 0
  check_branch blt, 0x80000000, 0x7fffffff, 1
  check_branch bge, 0, -1, 1
  check_branch bge, 3, 3, 1
  check_branch bge, -2, -1, 0
  check_branch bltu, 0, -1, 1
  check_branch bltu, -1, 0, 0
  check_branch bgeu, -1, 0, 1
  check_branch bgeu, 3, 4, 0

  lui   t0, 0x4
  add   s1, s0, t0
  li    a0, 0x8899aabb
  sw    a0, 0(s1)
  lw    a1, 0(s1)
  check a1, 0x8899aabb
  lb    a1, 0(s1)
  check a1, 0xffffffbb
  lb    a1, 3(s1)
  check a1, 0xffffff88
  lbu   a1, 1(s1)
  check a1, 0xaa
  lh    a1, 2(s1)
  check a1, 0xffff8899
  lhu   a1, 0(s1)
  check a1, 0xaabb
  li    a0, 0x11223344
  sb    a0, 2(s1)
  lw    a1, 0(s1)
  check a1, 0x8844aabb
  sh    a0, 2(s1)
  lw    a1, 0(s1)
  check a1, 0x3344aabb
  sh    a0, -2(s1)
  lhu   a1, -2(s1)
  check a1, 0x3344

  jal   a0, 3f
  .word 0
3:
  auipc a1, 0
  sub   a0, a1, a0
  check a0, 4
  auipc a1, 0
  jalr  a0, a1, 12
  .word 0
  sub   a0, a0, a1
  check a0, 8
  fence
  lui   t0, 0x8
  add   t0, s0, t0
  sw    s11, 0(t0)
  ebreak

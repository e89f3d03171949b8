# SPDX-License-Identifier: Apache-2.0
# Multiplies a matrix of 4 by 16 words with one of 16 by 16, a[i][j] = i + j and b[i][j] = i - j, whose columns are 64
# bytes apart and so meet in the caches. Result: the sum of the product's elements.
start:
  auipc s0, 0
  lui   t0, 0x4
  add   s1, s0, t0      # a
  addi  s2, s1, 1024    # b, behind 16 rows of a
  li    s3, 16
  li    t1, 0           # i
  mv    t4, s1
  mv    t5, s2
fill_row:
  li    t2, 0           # j
fill:
  add   t3, t1, t2
  sw    t3, 0(t4)
  sub   t3, t1, t2
  sw    t3, 0(t5)
  addi  t4, t4, 4
  addi  t5, t5, 4
  addi  t2, t2, 1
  bne   t2, s3, fill
  addi  t1, t1, 1
  bne   t1, s3, fill_row
  li    a0, 0
  li    s4, 0           # row of a, in bytes
row:
  li    s5, 0           # column of b, in bytes
column:
  add   t4, s1, s4
  add   t5, s2, s5
  li    s6, 16
element:
  lw    a1, 0(t4)
  lw    a2, 0(t5)
multiply:               # a0 += a1 * a2; a1 is not negative
  andi  t3, a1, 1
  beqz  t3, double
  add   a0, a0, a2
double:
  slli  a2, a2, 1
  srli  a1, a1, 1
  bnez  a1, multiply
  addi  t4, t4, 4
  addi  t5, t5, 64
  addi  s6, s6, -1
  bnez  s6, element
  addi  s5, s5, 4
  li    t3, 64
  bne   s5, t3, column
  addi  s4, s4, 64
  li    t3, 256
  bne   s4, t3, row
  lui   t0, 0x8
  add   t0, s0, t0
  sw    a0, 0(t0)
  ebreak

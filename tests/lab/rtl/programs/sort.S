# SPDX-License-Identifier: Apache-2.0
# Sorts 64 pseudo-random words by insertion. Result: the number of neighbours in order, 63.
start:
  auipc s0, 0
  lui   t0, 0x4
  add   s1, s0, t0      # the words
  addi  s2, s1, 256     # their end
  li    t1, 12345
  mv    t2, s1
fill:                   # xorshift
  slli  t3, t1, 13
  xor   t1, t1, t3
  srli  t3, t1, 17
  xor   t1, t1, t3
  slli  t3, t1, 5
  xor   t1, t1, t3
  sw    t1, 0(t2)
  addi  t2, t2, 4
  bne   t2, s2, fill
  addi  t2, s1, 4
insert:
  lw    t3, 0(t2)
  mv    t4, t2
shift:
  lw    t5, -4(t4)
  bge   t3, t5, place
  sw    t5, 0(t4)
  addi  t4, t4, -4
  bne   t4, s1, shift
place:
  sw    t3, 0(t4)
  addi  t2, t2, 4
  bne   t2, s2, insert
  li    a0, 0
  addi  t2, s1, 4
compare:
  lw    t3, -4(t2)
  lw    t4, 0(t2)
  bgt   t3, t4, next
  addi  a0, a0, 1
next:
  addi  t2, t2, 4
  bne   t2, s2, compare
  lui   t0, 0x8
  add   t0, s0, t0
  sw    a0, 0(t0)
  ebreak

# SPDX-License-Identifier: Apache-2.0
# Counts the primes below 1000 with a byte for each number. Result: 168.
start:
  auipc s0, 0
  lui   t0, 0x4
  add   s1, s0, t0      # a byte is 1 if its number is composite
  li    s2, 1000
  li    a0, 0
  li    t1, 2
number:
  add   t2, s1, t1
  lbu   t3, 0(t2)
  bnez  t3, composite
  addi  a0, a0, 1
  li    t3, 1
  add   t4, t1, t1
multiple:
  bgeu  t4, s2, composite
  add   t2, s1, t4
  sb    t3, 0(t2)
  add   t4, t4, t1
  j     multiple
composite:
  addi  t1, t1, 1
  bltu  t1, s2, number
  lui   t0, 0x8
  add   t0, s0, t0
  sw    a0, 0(t0)
  ebreak

# SPDX-License-Identifier: Apache-2.0
# Writes 256 words, then adds them up. From cold caches of 32 lines: 64 write misses, 64 read misses and 64 write-backs of
# the array. Result: the sum of 3 i for i below 256.
start:
  auipc s0, 0           # where the core boots
  lui   t0, 0x4
  add   s1, s0, t0      # the array
  li    t1, 0
  li    t2, 0
  li    t3, 256
  mv    t4, s1
write:
  sw    t2, 0(t4)
  addi  t2, t2, 3
  addi  t4, t4, 4
  addi  t1, t1, 1
  bne   t1, t3, write
  mv    t4, s1
  li    a0, 0
read:
  lw    t2, 0(t4)
  add   a0, a0, t2
  addi  t4, t4, 4
  addi  t1, t1, -1
  bnez  t1, read
  lui   t0, 0x8
  add   t0, s0, t0
  sw    a0, 0(t0)
  ebreak

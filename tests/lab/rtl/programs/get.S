# SPDX-License-Identifier: Apache-2.0
# A program that has its client for itself: it reads all counters of its core before and after some work, and checks that
# the second level was read as often as the first level missed. Results, as they were read, at + 0 and + 0x100: the stamp
# and 19 counters, of 8 bytes each. An illegal instruction ends the program if something is wrong.
start:
  auipc s0, 0
  lui   t0, 0x8
  add   s1, s0, t0
  mv    a0, s1
  jal   ra, get         # also brings the code into the cache
  lui   t0, 0x4
  add   t1, s0, t0
  li    t2, 100
work:
  lw    t3, 0(t1)
  addi  t3, t3, 1
  sw    t3, 0(t1)
  addi  t1, t1, 16
  addi  t2, t2, -1
  bnez  t2, work
  addi  a0, s1, 0x100
  jal   ra, get
  addi  a0, s1, 0x108   # the counters of the second reading
  lw    t0, 8*3(a0)     # misses: l1i_readmiss, l1d_readmiss, l1d_writemiss
  lw    t1, 8*5(a0)
  add   t0, t0, t1
  lw    t1, 8*7(a0)
  add   t0, t0, t1
  lw    t1, 8*9(a0)     # reads of the slices
  lw    t2, 8*14(a0)
  add   t1, t1, t2
  bne   t0, t1, wrong
  lw    t0, 8*8(a0)     # write-backs, and writes of the slices
  lw    t1, 8*11(a0)
  lw    t2, 8*16(a0)
  add   t1, t1, t2
  bne   t0, t1, wrong
  ebreak
wrong:
  .word 0

# Reads all counters to a0.
get:
  li    t0, (1 << 19) - 1
  csrw  hpcm, t0
  srli  t0, s0, 16      # the core's number is its module
  slli  t0, t0, hpcc_module_lsb
  li    t1, hpcc_stamp | hpcc_trigger
  or    t0, t0, t1
  csrw  hpcc, t0
  li    t1, 20
  li    t2, hpcc_refused | hpcc_interrupted
wait:
  csrr  t0, hpcc
  and   t3, t0, t2
  bnez  t3, wrong
  andi  t0, t0, hpcc_empty
  bnez  t0, wait
  csrr  t0, hpcr
  csrr  t3, hpcrh
  sw    t0, 0(a0)
  sw    t3, 4(a0)
  addi  a0, a0, 8
  addi  t1, t1, -1
  bnez  t1, wait
  ret

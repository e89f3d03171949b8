# SPDX-License-Identifier: Apache-2.0
# A program that is switched: it reads all counters of its core 40 times, each time until no switch came between, at most
# 8 times. Results: for each reading the number of attempts that failed, 0 to 8, at + 0; the stamp and 19 counters at
# + 8, valid if it is below 8. The readings are 0x100 bytes apart.
start:
  auipc s0, 0
  lui   t0, 0x8
  add   s1, s0, t0
  li    s2, 40
reading:
  li    s3, 0           # attempts that failed
attempt:
  csrw  hpcc, x0        # cancels
  li    t0, (1 << 19) - 1
  csrw  hpcm, t0
  srli  t0, s0, 16
  slli  t0, t0, hpcc_module_lsb
  li    t1, hpcc_stamp | hpcc_trigger
  or    t0, t0, t1
  csrw  hpcc, t0
  addi  a0, s1, 8
  li    t1, 20
wait:
  csrr  t0, hpcc
  andi  t2, t0, hpcc_interrupted
  bnez  t2, failed
  andi  t0, t0, hpcc_empty
  bnez  t0, wait
  csrr  t0, hpcr
  csrr  t3, hpcrh
  sw    t0, 0(a0)
  sw    t3, 4(a0)
  addi  a0, a0, 8
  addi  t1, t1, -1
  bnez  t1, wait
  csrr  t0, hpcc
  andi  t0, t0, hpcc_interrupted | hpcc_readerror
  beqz  t0, done
failed:
  addi  s3, s3, 1
  li    t0, hpc_attempts_max
  bne   s3, t0, attempt
done:
  sw    s3, 0(s1)
  addi  s1, s1, 0x100
  addi  s2, s2, -1
  bnez  s2, reading
  ebreak

# SPDX-License-Identifier: Apache-2.0
#
# sieve: the primes below 2^17 by the sieve of Eratosthenes, a byte for each number.
        .include "harness.inc"

        .equ    LIMIT, 131072

        .bss
        .balign 64
flags:  .space  LIMIT

        .text
# s0 iterations left, s1 checksum, s2 flags, s3 limit
kernel: mv      s0, a0
        li      s1, 0
        la      s2, flags
        li      s3, LIMIT
        li      t6, 1

1:      mv      t0, s2                  # every number is a prime so far
        add     t1, s2, s3
2:      sd      zero, 0(t0)
        addi    t0, t0, 8
        bltu    t0, t1, 2b

        li      t0, 2
3:      add     t1, s2, t0
        lbu     t1, 0(t1)
        bnez    t1, 5f
        mix     s1, t0, t2              # a prime: it is counted, and its multiples are crossed out
        mul     t1, t0, t0
        bgeu    t1, s3, 5f
4:      add     t2, s2, t1
        sb      t6, 0(t2)
        add     t1, t1, t0
        bltu    t1, s3, 4b
5:      addi    t0, t0, 1
        bltu    t0, s3, 3b
        addi    s0, s0, -1
        bnez    s0, 1b

        mv      a0, s1
        ret

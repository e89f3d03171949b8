# SPDX-License-Identifier: Apache-2.0
#
# search: 4096 binary searches in 65536 ascending numbers.
        .include "harness.inc"

        .equ    COUNT, 65536
        .equ    SEARCHES, 4096

        .bss
        .balign 64
array:  .space  8 * COUNT

        .text
# s0 iterations left, s1 checksum, s2 array, s3 random state, s4 above the greatest number, s5 count
kernel: mv      s0, a0
        li      s1, 0
        la      s2, array
        li      s3, 5
        li      s4, 0
        li      s5, COUNT

        mv      t0, s2
        li      t1, 0
1:      random  s3, t2
        andi    t2, s3, 15              # steps of 0 to 15
        add     s4, s4, t2
        sd      s4, 0(t0)
        addi    t0, t0, 8
        addi    t1, t1, 1
        bltu    t1, s5, 1b
        addi    s4, s4, 1

2:      li      t0, SEARCHES
3:      random  s3, t1
        remu    t1, s3, s4
        li      t2, 0                   # the first number that is not below t1 is in [t2, t3]
        mv      t3, s5
4:      add     t4, t2, t3
        srli    t4, t4, 1
        slli    t5, t4, 3
        add     t5, t5, s2
        ld      t5, 0(t5)
        bltu    t5, t1, 5f
        mv      t3, t4
        bltu    t2, t3, 4b
        j       6f
5:      addi    t2, t4, 1
        bltu    t2, t3, 4b
6:      mix     s1, t2, t4
        addi    t0, t0, -1
        bnez    t0, 3b
        addi    s0, s0, -1
        bnez    s0, 2b

        mv      a0, s1
        ret

# SPDX-License-Identifier: Apache-2.0
#
# hash: a table of 32768 slots of 16 bytes with open addressing; 16384 keys of 14 bits are counted in it, then the slots
# are read out and emptied.
        .include "harness.inc"

        .equ    SLOTS, 32768
        .equ    KEYS, 16384
        .equ    KEY_SHIFT, 50           # the upper 14 bits of a random number
        .equ    MULTIPLIER, 0x61c88647

        .bss
        .balign 64
table:  .space  16 * SLOTS

        .text
# s0 iterations left, s1 checksum, s2 table, s3 its end, s4 random state, s5 multiplier, s6 mask of a slot's offset
kernel: mv      s0, a0
        li      s1, 0
        la      s2, table
        li      t0, 16 * SLOTS
        add     s3, s2, t0
        addi    s6, t0, -16
        li      s4, 4
        li      s5, MULTIPLIER

1:      li      t0, KEYS
2:      random  s4, t1
        srli    t1, s4, KEY_SHIFT
        addi    t1, t1, 1               # a key is not 0, which is an empty slot
        mul     t2, t1, s5
        srli    t2, t2, 8
3:      and     t2, t2, s6
        add     t3, s2, t2
        ld      t4, 0(t3)
        beq     t4, t1, 4f
        addi    t2, t2, 16
        bnez    t4, 3b
        sd      t1, 0(t3)
4:      ld      t5, 8(t3)
        addi    t5, t5, 1
        sd      t5, 8(t3)
        addi    t0, t0, -1
        bnez    t0, 2b

        mv      t0, s2
5:      ld      t1, 0(t0)
        beqz    t1, 6f
        ld      t2, 8(t0)
        sd      zero, 0(t0)
        sd      zero, 8(t0)
        mul     t1, t1, t2
        mix     s1, t1, t3
6:      addi    t0, t0, 16
        bltu    t0, s3, 5b
        addi    s0, s0, -1
        bnez    s0, 1b

        mv      a0, s1
        ret

# SPDX-License-Identifier: Apache-2.0
#
# edit: the edit distance of two words of 192 letters out of four, row by row (dynamic programming).
        .include "harness.inc"

        .equ    LENGTH, 192

        .bss
        .balign 64
first:  .space  LENGTH
second: .space  LENGTH
row:    .space  8 * (LENGTH + 1)

        .text
# s0 iterations left, s1 checksum, s2 first, s3 second, s4 row, s5 random state, s6 length
kernel: mv      s0, a0
        li      s1, 0
        la      s2, first
        la      s3, second
        la      s4, row
        li      s5, 8
        li      s6, LENGTH

1:      mv      t0, s2                  # two new words, which are adjacent
2:      random  s5, t1
        andi    t1, s5, 3
        sb      t1, 0(t0)
        addi    t0, t0, 1
        bltu    t0, s4, 2b

        li      t0, 0                   # from the empty word to each prefix of the second
        mv      t1, s4
3:      sd      t0, 0(t1)
        addi    t1, t1, 8
        addi    t0, t0, 1
        bleu    t0, s6, 3b

        li      t0, 0                   # letters of the first
4:      add     t1, s2, t0
        lbu     t1, 0(t1)
        ld      t2, 0(s4)               # one row up, one column left
        addi    t0, t0, 1
        sd      t0, 0(s4)
        mv      t3, t0                  # left
        mv      t4, s4
        mv      a0, s3
5:      ld      t5, 8(t4)               # up
        lbu     t6, 0(a0)
        beq     t6, t1, 7f
        bleu    t3, t5, 6f              # else the smallest of the three, and one
        mv      t3, t5
6:      bleu    t3, t2, 8f
        mv      t3, t2
8:      addi    t3, t3, 1
        j       9f
7:      mv      t3, t2                  # an equal letter costs nothing
9:      sd      t3, 8(t4)
        mv      t2, t5
        addi    t4, t4, 8
        addi    a0, a0, 1
        sub     t6, a0, s3
        bltu    t6, s6, 5b
        bltu    t0, s6, 4b
        mix     s1, t3, t0
        addi    s0, s0, -1
        bnez    s0, 1b

        mv      a0, s1
        ret

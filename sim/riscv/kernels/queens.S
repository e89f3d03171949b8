# SPDX-License-Identifier: Apache-2.0
#
# queens: the number of ways to place 8 queens on a board of 8 x 8, by backtracking with sets of columns and diagonals.
        .include "harness.inc"

        .equ    BOARD, 255              # a bit for each column

        .text
# s0 iterations left, s1 checksum, s2 all columns, s3 solutions
kernel: addi    sp, sp, -16
        sd      ra, 0(sp)
        mv      s0, a0
        li      s1, 0
        li      s2, BOARD
        li      s3, 0
1:      li      a0, 0
        li      a1, 0
        li      a2, 0
        call    place
        mix     s1, s3, t0
        addi    s0, s0, -1
        bnez    s0, 1b
        mv      a0, s1
        ld      ra, 0(sp)
        addi    sp, sp, 16
        ret

# Places a queen in each of the remaining rows: a0 columns with a queen, a1 and a2 columns that are attacked diagonally.
place:  beq     a0, s2, 3f
        or      t0, a0, a1
        or      t0, t0, a2
        not     t0, t0
        and     t0, t0, s2              # the free columns
        beqz    t0, 4f
        addi    sp, sp, -48
        sd      ra, 0(sp)
        sd      a0, 8(sp)
        sd      a1, 16(sp)
        sd      a2, 24(sp)
1:      neg     t1, t0                  # the lowest of them
        and     t1, t1, t0
        xor     t0, t0, t1
        sd      t0, 32(sp)
        ld      a0, 8(sp)
        ld      a1, 16(sp)
        ld      a2, 24(sp)
        or      a0, a0, t1
        or      a1, a1, t1
        slli    a1, a1, 1
        or      a2, a2, t1
        srli    a2, a2, 1
        call    place
        ld      t0, 32(sp)
        bnez    t0, 1b
        ld      ra, 0(sp)
        addi    sp, sp, 48
        ret
3:      addi    s3, s3, 1
4:      ret

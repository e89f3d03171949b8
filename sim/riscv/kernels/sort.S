# SPDX-License-Identifier: Apache-2.0
#
# sort: quicksort of 4096 random numbers, recursive.
        .include "harness.inc"

        .equ    COUNT, 4096

        .bss
        .balign 64
array:  .space  8 * COUNT

        .text
# s0 iterations left, s1 checksum, s2 array, s3 its last element, s4 random state
kernel: addi    sp, sp, -16
        sd      ra, 0(sp)
        mv      s0, a0
        li      s1, 0
        la      s2, array
        li      s4, 1
        li      t0, 8 * (COUNT - 1)
        add     s3, s2, t0

1:      mv      t0, s2
2:      random  s4, t1
        sd      s4, 0(t0)
        addi    t0, t0, 8
        bleu    t0, s3, 2b

        mv      a0, s2
        mv      a1, s3
        call    sort

        mv      t0, s2
3:      ld      t1, 0(t0)
        mix     s1, t1, t2
        addi    t0, t0, 8
        bleu    t0, s3, 3b
        addi    s0, s0, -1
        bnez    s0, 1b

        mv      a0, s1
        ld      ra, 0(sp)
        addi    sp, sp, 16
        ret

# Sorts the elements from address a0 up to a1, both included.
sort:   bgeu    a0, a1, 6f
        sub     t2, a1, a0
        srli    t2, t2, 4
        slli    t2, t2, 3
        add     t2, t2, a0
        ld      t2, 0(t2)               # the pivot: the middle one
        mv      t0, a0
        mv      t1, a1
1:      ld      t3, 0(t0)
        bgeu    t3, t2, 2f
        addi    t0, t0, 8
        j       1b
2:      ld      t4, 0(t1)
        bgeu    t2, t4, 3f
        addi    t1, t1, -8
        j       2b
3:      bltu    t1, t0, 4f
        sd      t4, 0(t0)
        sd      t3, 0(t1)
        addi    t0, t0, 8
        addi    t1, t1, -8
        bleu    t0, t1, 1b
4:      addi    sp, sp, -32
        sd      ra, 0(sp)
        sd      t0, 8(sp)
        sd      a1, 16(sp)
        mv      a1, t1
        call    sort
        ld      a0, 8(sp)
        ld      a1, 16(sp)
        call    sort
        ld      ra, 0(sp)
        addi    sp, sp, 32
6:      ret

# SPDX-License-Identifier: Apache-2.0
#
# matrix: the product of two matrices of 48 x 48 numbers of 64 bits; the product is the next iteration's left factor.
        .include "harness.inc"

        .equ    SIZE, 48
        .equ    ROW, 8 * SIZE
        .equ    BYTES, ROW * SIZE

        .bss
        .balign 64
left:   .space  BYTES
right:  .space  BYTES
product:
        .space  BYTES

        .text
# s0 iterations left, s1 checksum, s2 left factor, s3 right factor, s4 product, s5 random state
kernel: mv      s0, a0
        li      s1, 0
        la      s2, left
        la      s3, right
        la      s4, product
        li      s5, 2
        mv      t0, s2                  # left and right are adjacent
1:      random  s5, t1
        sd      s5, 0(t0)
        addi    t0, t0, 8
        bltu    t0, s4, 1b

2:      mv      a0, s2                  # a row of the left factor
        mv      a1, s4                  # an element of the product
        li      a2, SIZE                # rows left
3:      mv      a3, s3                  # a column of the right factor
        li      a4, SIZE                # columns left
4:      mv      t0, a0
        mv      t1, a3
        addi    t2, a0, ROW             # the row's end
        li      t3, 0
5:      ld      t4, 0(t0)
        ld      t5, 0(t1)
        mul     t4, t4, t5
        add     t3, t3, t4
        addi    t0, t0, 8
        addi    t1, t1, ROW
        bltu    t0, t2, 5b
        sd      t3, 0(a1)
        mix     s1, t3, t4
        addi    a1, a1, 8
        addi    a3, a3, 8
        addi    a4, a4, -1
        bnez    a4, 4b
        mv      a0, t2
        addi    a2, a2, -1
        bnez    a2, 3b
        mv      t0, s2
        mv      s2, s4
        mv      s4, t0
        addi    s0, s0, -1
        bnez    s0, 2b

        mv      a0, s1
        ret

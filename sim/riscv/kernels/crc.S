# SPDX-License-Identifier: Apache-2.0
#
# crc: the CRC-32 of 4096 bytes, bit by bit, and the ones of their words; both go into the next iteration's bytes.
        .include "harness.inc"

        .equ    LENGTH, 4096
        .equ    POLYNOMIAL, -306674912  # 0xedb88320, reflected

        .bss
        .balign 64
bytes:  .space  LENGTH

        .text
        .balign 8
masks:  .dword  0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f, 0x0101010101010101

# s0 iterations left, s1 checksum, s2 bytes, s3 their end, s4 random state, s5 polynomial, s6 to s9 masks
kernel: mv      s0, a0
        li      s1, 0
        la      s2, bytes
        li      t0, LENGTH
        add     s3, s2, t0
        li      s4, 7
        li      s5, POLYNOMIAL
        slli    s5, s5, 32
        srli    s5, s5, 32
        la      t0, masks
        ld      s6, 0(t0)
        ld      s7, 8(t0)
        ld      s8, 16(t0)
        ld      s9, 24(t0)

        mv      t0, s2
1:      random  s4, t1
        sd      s4, 0(t0)
        addi    t0, t0, 8
        bltu    t0, s3, 1b

2:      li      a0, -1
        srli    a0, a0, 32
        mv      t0, s2
3:      lbu     t1, 0(t0)
        xor     a0, a0, t1
        li      t2, 8
4:      andi    t3, a0, 1
        neg     t3, t3
        and     t3, t3, s5
        srli    a0, a0, 1
        xor     a0, a0, t3
        addi    t2, t2, -1
        bnez    t2, 4b
        addi    t0, t0, 1
        bltu    t0, s3, 3b
        not     a0, a0
        slli    a0, a0, 32
        srli    a0, a0, 32
        mix     s1, a0, t0

        mv      t0, s2                  # the ones of each word, in parallel sums
        li      a1, 0
5:      ld      t1, 0(t0)
        srli    t2, t1, 1
        and     t2, t2, s6
        sub     t1, t1, t2
        srli    t2, t1, 2
        and     t2, t2, s7
        and     t1, t1, s7
        add     t1, t1, t2
        srli    t2, t1, 4
        add     t1, t1, t2
        and     t1, t1, s8
        mul     t1, t1, s9
        srli    t1, t1, 56
        add     a1, a1, t1
        addi    t0, t0, 8
        bltu    t0, s3, 5b
        mix     s1, a1, t0
        sd      s1, 0(s2)
        addi    s0, s0, -1
        bnez    s0, 2b

        mv      a0, s1
        ret

# SPDX-License-Identifier: Apache-2.0
#
# Takes n words into registers: by the CSRs (a0 = 1; n counters, 1 to 64), by loads from a page (a0 = 2), or not at all
# (a0 = 0). a0 is in bits 7:0, n in 15:8. Core 0 only, at machine level, on slice 0 of the chip. Ends with 0, or with 1
# if the CSRs had not all values.

        .include "registers.inc"

        .equ    PAGE, 0x80000

        .text
        .globl  _start
_start:
        csrr    t0, mhartid
        bnez    t0, 9f
        srli    s0, a0, 8
        andi    s0, s0, 255
        andi    a0, a0, 255
        addi    a0, a0, -1
        bltz    a0, 9f
        bnez    a0, loads

        li      t0, 64
        sub     t0, t0, s0
        li      t1, -1
        srl     t1, t1, t0
        csrw    hpcm, t1
        li      t0, TRIGGER
        csrw    hpcc, t0
1:      csrr    t0, hpcc
        andi    t0, t0, TRIGGER
        bnez    t0, 1b
2:      csrr    t1, hpcr
        addi    s0, s0, -1
        bnez    s0, 2b
        csrr    t0, hpcc
        li      t1, INTERRUPTED | READERROR | REFUSED
        and     t0, t0, t1
        snez    t0, t0
        csrw    mexit, t0

loads:
        li      t0, PAGE
1:      ld      t1, 0(t0)
        addi    t0, t0, 8
        addi    s0, s0, -1
        bnez    s0, 1b
9:      csrw    mexit, zero

# SPDX-License-Identifier: Apache-2.0
#
# Two threads at user level that read counters through one client by get_shared (docs/design/registers.md), and a timer
# at machine level that switches them. Core 0 only.
#
# a0: bits 31:0 the time slice in cycles, 47:32 the readings of each thread (0: no end), 55:48 the slice of the chip, 56
# whether a reader waits for the last value before it takes the first. Ends with 0 after all readings; with its cause
# after a trap that it does not expect; with LEAK if a register has a value of one thread when the other is about to run.
#
# Results, all double words: at FAULTS how often a trigger has raised an exception, since useren was 0. Thread k has at
# READINGS + RECORDS k a record of RECORD bytes for each reading: outcome, attempts, cycle of the latch, and the counters
# of its bitmap; after 1024 readings it begins again. Outcomes: 1 values, 2 interrupted in each attempt, 3 refused.
#
# A switch: the timer's handler saves the thread, sets `interrupted`, which clears what the thread has asked for, and
# returns to the other one.

        .include "registers.inc"

        .equ    SAVED, 0x70000          # 256 bytes of each thread: x1 to x31 at 8 times their number, mepc at 0
        .equ    SAVED_BYTES, 256
        .equ    DONE, 0x70200           # threads that have ended
        .equ    TIME_SLICE, 0x70208
        .equ    FAULTS, 0x7fff8
        .equ    READINGS, 0x80000
        .equ    RECORD, 64
        .equ    RECORDS, 65536
        .equ    WORDS, 4                # of a reading: the stamp and three counters

        .equ    HAVE_VALUES, 1
        .equ    UNAVAILABLE, 2
        .equ    WAS_REFUSED, 3

        .equ    LEAK, 100

        .text
        .globl  _start
_start:
        csrr    t0, mhartid
        bnez    t0, 9f
        la      t0, trap
        csrw    mtvec, t0
        li      t0, USEREN
        csrw    hpcc, t0
        li      s0, SAVED
        slli    t0, a0, 32
        srli    t0, t0, 32
        sd      t0, TIME_SLICE-SAVED(s0)
        srli    s1, a0, 32
        slli    t0, s1, 48
        srli    s1, t0, 48              # readings
        srli    t0, a0, 48
        andi    s2, t0, 255
        slli    s2, s2, MODULE_LSB
        andi    t0, t0, 256
        li      s5, EMPTY
        beqz    t0, 1f
        li      s5, TRIGGER
1:

        # Of thread 0: cycles, instructions and reads of the L1D; of thread 1: fetches, writes of the L1D, reads of slice 0
        # of the L2.
        la      t0, thread
        li      t1, 1 << 0 | 1 << 1 | 1 << 4
        li      t2, READINGS
        li      t3, 1 << 2 | 1 << 6 | 1 << 9
        li      t4, READINGS + RECORDS
        .irp    offset, 0, SAVED_BYTES
        sd      t0, 0+\offset(s0)
        sd      s1, 8*9+\offset(s0)
        sd      s2, 8*18+\offset(s0)
        sd      s5, 8*21+\offset(s0)
        .endr
        sd      t1, 8*19(s0)
        sd      t2, 8*20(s0)
        sd      t3, 8*19+SAVED_BYTES(s0)
        sd      t4, 8*20+SAVED_BYTES(s0)

        li      t0, 3 << 11             # mstatus.MPP: return to user level
        csrc    mstatus, t0
        li      t0, 1 << 7              # the timer
        csrw    mie, t0
        mv      sp, s0
        j       resume
9:      csrw    mexit, zero

# --- Machine level ------------------------------------------------------------------------------------------------------

        .macro  each_register operation
        .irp    number, 1,3,4,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        \operation x\number, 8*\number(sp)
        .endr
        .endm

        .align  3
trap:
        csrrw   sp, mscratch, sp        # mscratch is the thread's place
        sd      t0, 8*5(sp)
        sd      t1, 8*6(sp)
        each_register sd
        csrr    t0, mscratch
        sd      t0, 8*2(sp)
        csrr    t0, mepc
        sd      t0, 0(sp)
        csrr    t1, mcause
        bltz    t1, switch
        addi    t0, t0, 4
        sd      t0, 0(sp)
        li      t2, 2                   # illegal instruction: a trigger without useren
        beq     t1, t2, 1f
        li      t2, 8                   # call: the thread has ended
        beq     t1, t2, 2f
        csrw    mexit, t1
1:      li      t1, FAULTS
        ld      t0, 0(t1)
        addi    t0, t0, 1
        sd      t0, 0(t1)
        j       resume
2:      li      t1, DONE
        ld      t0, 0(t1)
        addi    t0, t0, 1
        sd      t0, 0(t1)
        addi    t0, t0, -2
        bnez    t0, resume
        csrw    mexit, zero

switch:
        csrr    t0, hpcc
        li      t1, USEREN
        and     t0, t0, t1
        ori     t0, t0, INTERRUPTED
        csrw    hpcc, t0
        csrr    t0, hpcm
        csrr    t1, hpcr
        or      t0, t0, t1
        xori    sp, sp, SAVED_BYTES
        beqz    t0, resume
        li      t0, LEAK
        csrw    mexit, t0

# To the thread whose place is sp. The time slice begins as late as possible.
resume:
        ld      t0, 0(sp)
        csrw    mepc, t0
        csrw    mscratch, sp
        each_register ld
        li      t1, TIME_SLICE
        ld      t1, 0(t1)
        csrr    t0, mcycle
        add     t0, t0, t1
        csrw    mtimecmp, t0
        ld      t0, 8*5(sp)
        ld      t1, 8*6(sp)
        ld      sp, 8*2(sp)
        mret

# --- User level ---------------------------------------------------------------------------------------------------------

# s1: readings left; s2: the manager's id in its place in hpcc; s3: bitmap; s4: the next record; s5: the field of hpcc
# that is 0 when a value may be taken. The instructions between two readings are not always as many.
thread:
        andi    t0, s1, 31
1:      addi    t0, t0, -1
        bgez    t0, 1b
        call    get_shared
        addi    s4, s4, RECORD
        slli    t0, s4, 48
        bnez    t0, 2f
        li      t0, RECORDS
        sub     s4, s4, t0
2:      addi    s1, s1, -1
        bnez    s1, thread
        ecall
3:      j       3b

get_shared:
        li      t1, TRIGGER | STAMP
        or      t1, t1, s2
        li      t2, REFUSED
        li      t3, 0                   # attempts
        li      t4, ATTEMPTS_MAX
1:      addi    t3, t3, 1
        csrw    hpcc, zero
        csrw    hpcm, s3
        csrw    hpcc, t1
        addi    t5, s4, 16              # where the words go
        addi    t6, t5, 8*WORDS
2:      csrr    a0, hpcc
        andi    a1, a0, INTERRUPTED
        bnez    a1, 3f
        and     a1, a0, t2
        bnez    a1, 4f
        and     a1, a0, s5
        bnez    a1, 2b
        csrr    a1, hpcr
        sd      a1, 0(t5)
        addi    t5, t5, 8
        bne     t5, t6, 2b
        csrr    a0, hpcc
        andi    a0, a0, INTERRUPTED | READERROR
        li      a1, HAVE_VALUES
        beqz    a0, 5f
3:      bne     t3, t4, 1b
        csrw    hpcc, zero
        li      a1, UNAVAILABLE
        j       5f
4:      li      a1, WAS_REFUSED
5:      sd      a1, 0(s4)
        sd      t3, 8(s4)
        ret

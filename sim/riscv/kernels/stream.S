# SPDX-License-Identifier: Apache-2.0
#
# stream: three arrays of 128 KiB are filled, copied, and combined, 8 bytes at a time.
        .include "harness.inc"

        .equ    BYTES, 131072

        .bss
        .balign 64
first:  .space  BYTES
second: .space  BYTES
third:  .space  BYTES

        .text
# s0 iterations left, s1 checksum, s2 to s4 arrays
kernel: mv      s0, a0
        li      s1, 0
        la      s2, first
        la      s3, second
        la      s4, third

1:      add     t1, s1, s0              # fill the first with an arithmetic sequence
        mv      t0, s2
2:      sd      t1, 0(t0)
        addi    t1, t1, 77
        addi    t0, t0, 8
        bltu    t0, s3, 2b

        mv      t0, s2                  # copy it to the second
        mv      t1, s3
3:      ld      t2, 0(t0)
        addi    t0, t0, 8
        sd      t2, 0(t1)
        addi    t1, t1, 8
        bltu    t0, s3, 3b

        mv      t0, s2                  # third = 3 third + first + second
        mv      t1, s3
        mv      t2, s4
4:      ld      t3, 0(t0)
        ld      t4, 0(t1)
        ld      t5, 0(t2)
        add     t3, t3, t4
        slli    t4, t5, 1
        add     t5, t5, t4
        add     t3, t3, t5
        sd      t3, 0(t2)
        xor     s1, s1, t3
        addi    t0, t0, 8
        addi    t1, t1, 8
        addi    t2, t2, 8
        bltu    t0, s3, 4b
        mix     s1, s0, t0
        addi    s0, s0, -1
        bnez    s0, 1b

        mv      a0, s1
        ret

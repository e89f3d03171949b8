# SPDX-License-Identifier: Apache-2.0
#
# chase: 65536 steps along a random cycle through 16384 nodes of 64 bytes; each step counts in its node.
        .include "harness.inc"

        .equ    NODES, 16384
        .equ    STEPS, 65536

        .bss
        .balign 64
nodes:  .space  64 * NODES

        .text
# s0 iterations left, s1 checksum, s2 nodes, s3 random state, s4 the current node
kernel: mv      s0, a0
        li      s1, 0
        la      s2, nodes
        li      s3, 3

        li      t0, 0                   # each node is its own successor
        li      t5, NODES
        mv      t1, s2
1:      sd      t1, 0(t1)
        addi    t1, t1, 64
        addi    t0, t0, 1
        bltu    t0, t5, 1b

        addi    t0, t5, -1              # Sattolo's shuffle: one cycle through all nodes
2:      random  s3, t1
        remu    t1, s3, t0              # a node before this one
        slli    t1, t1, 6
        add     t1, t1, s2
        slli    t2, t0, 6
        add     t2, t2, s2
        ld      t3, 0(t1)
        ld      t4, 0(t2)
        sd      t4, 0(t1)
        sd      t3, 0(t2)
        addi    t0, t0, -1
        bnez    t0, 2b

        mv      s4, s2
3:      li      t0, STEPS
4:      ld      t1, 8(s4)
        addi    t1, t1, 1
        sd      t1, 8(s4)
        sub     t2, s4, s2
        add     t2, t2, t1
        mix     s1, t2, t3
        ld      s4, 0(s4)
        addi    t0, t0, -1
        bnez    t0, 4b
        addi    s0, s0, -1
        bnez    s0, 3b

        mv      a0, s1
        ret

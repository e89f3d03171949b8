# SPDX-License-Identifier: Apache-2.0
#
# graph: breadth-first search from a random node of a random graph of 4096 nodes with four edges each.
        .include "harness.inc"

        .equ    NODES, 4096

        .bss
        .balign 64
edges:  .space  16 * NODES              # the four neighbours of a node
depth:  .space  4 * NODES               # 0: not found yet
queue:  .space  4 * NODES

        .text
# s0 iterations left, s1 checksum, s2 edges, s3 depths, s4 queue, s5 random state, s6 mask of a node
kernel: mv      s0, a0
        li      s1, 0
        la      s2, edges
        la      s3, depth
        la      s4, queue
        li      s5, 9
        li      s6, NODES - 1

        mv      t0, s2
1:      random  s5, t1
        and     t1, s5, s6
        sw      t1, 0(t0)
        addi    t0, t0, 4
        bltu    t0, s3, 1b

2:      mv      t0, s3
3:      sd      zero, 0(t0)
        addi    t0, t0, 8
        bltu    t0, s4, 3b

        random  s5, t0
        and     t0, s5, s6              # the start has depth 1
        slli    t1, t0, 2
        add     t1, t1, s3
        li      t2, 1
        sw      t2, 0(t1)
        mv      a0, s4                  # the first of the queue
        sw      t0, 0(a0)
        addi    a1, a0, 4               # its end
4:      lwu     t0, 0(a0)
        addi    a0, a0, 4
        slli    t1, t0, 2
        add     t1, t1, s3
        lwu     t1, 0(t1)
        mix     s1, t1, t2
        addi    t1, t1, 1
        slli    t2, t0, 4
        add     t2, t2, s2
        addi    t3, t2, 16
5:      lwu     t4, 0(t2)
        slli    t5, t4, 2
        add     t5, t5, s3
        lwu     t6, 0(t5)
        bnez    t6, 6f
        sw      t1, 0(t5)
        sw      t4, 0(a1)
        addi    a1, a1, 4
6:      addi    t2, t2, 4
        bltu    t2, t3, 5b
        bltu    a0, a1, 4b
        addi    s0, s0, -1
        bnez    s0, 2b

        mv      a0, s1
        ret

# SPDX-License-Identifier: Apache-2.0
#
# bytes: all occurrences of a word of 6 letters in a text of 32768 letters out of four. The word is taken from the text.
        .include "harness.inc"

        .equ    LENGTH, 32768
        .equ    WORD, 6

        .bss
        .balign 64
text:   .space  LENGTH

        .text
# s0 iterations left, s1 checksum, s2 text, s3 the last place where the word can be, s4 random state, s5 word
kernel: mv      s0, a0
        li      s1, 0
        la      s2, text
        li      s4, 6
        li      t0, LENGTH
        add     t0, t0, s2
        addi    s3, t0, -WORD

        mv      t1, s2
1:      random  s4, t2
        andi    t2, s4, 3
        addi    t2, t2, 97              # 'a'
        sb      t2, 0(t1)
        addi    t1, t1, 1
        bltu    t1, t0, 1b

2:      random  s4, t0
        sub     t0, s3, s2
        remu    s5, s4, t0
        add     s5, s5, s2
        mv      t0, s2
3:      li      t1, 0                   # equal letters
4:      add     t2, t0, t1
        lbu     t2, 0(t2)
        add     t3, s5, t1
        lbu     t3, 0(t3)
        bne     t2, t3, 5f
        addi    t1, t1, 1
        sltiu   t2, t1, WORD
        bnez    t2, 4b
        sub     t2, t0, s2
        mix     s1, t2, t3
5:      addi    t0, t0, 1
        bleu    t0, s3, 3b
        addi    s0, s0, -1
        bnez    s0, 2b

        mv      a0, s1
        ret

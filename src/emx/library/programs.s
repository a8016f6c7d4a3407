# The programs of the measurements (paper, 4 and appendix), one thread on each PE. Each ends with TELL.

# --- Parts ---------------------------------------------------------------------------------------------------------

# r4 = port of PE r4.
.macro port_of
        slli    r4, r4, 22
        addi    r4, r4, PORT
.endm

# The block for PE r4 goes to this PE's place in its buffer.
.macro put_block
        ld      r9, SHIFT(fp)
        ld      r3, PLACE(fp)
        slli    r5, r4, 22
        sll     r4, r4, r9
        add     r5, r5, r3
        ld      r3, SRC(fp)
        ld      r6, N(fp)
        add     r4, r4, r3
        call    mem_copyout
.endm

# A pkt message of one type, word r6, to port r4.
.macro output type
        addi    r3, r4, 1 + \type
        send    RIGHT, r3, r6
.endm

# The buffer goes to the next PE, and a pkt behind it.
.macro put_next
        ld      r5, NEXT(fp)
        ld      r4, DST(fp)
        subi    r5, r5, PORT
        add     r5, r5, r4
        ld      r6, N(fp)
        call    mem_copyout
        ld      r4, NEXT(fp)
        li      r6, 1
        output  0
.endm

# One step of a butterfly by pkt messages of one type; r4 = port of the partner, r6 = sum so far.
.macro butterfly step, type
        beqz    r4, reduced
        output  \type
        li      r4, 0x400000 << \step   # PEs differ in this bit alone
        xor     r4, r4, r3
        st      r6, SUM(fp)
        li      r3, 1f
        st      r3, RESUME(fp)
        send.end LEFT, r4, fp
1:      ld      r6, SUM(fp)
        ld      r4, PARTNERS + 1 + \step(fp)
        add     r6, r6, r2
.endm

# r2 = sum of r6 over all PEs. A PE may be one sum ahead of its partners, so two sets of types are used by turns.
reduce:
        ld      r3, SET(fp)
        ld      r4, PARTNERS(fp)
        st      ra, RA2(fp)
        xori    r5, r3, 1
        st      r5, SET(fp)
        bnez    r3, 2f
        butterfly 0, 0
        butterfly 1, 1
        butterfly 2, 2
        butterfly 3, 3
        butterfly 4, 4
        butterfly 5, 5
        ld      ra, RA2(fp)
        move    r2, r6
        ret
2:      butterfly 0, 6
        butterfly 1, 7
        butterfly 2, 8
        butterfly 3, 9
        butterfly 4, 10
        butterfly 5, 11
reduced:
        ld      ra, RA2(fp)
        move    r2, r6
        ret

# --- Round trip on a ring (4.1): PE 0 begins -------------------------------------------------------------------------

.align  2
program RING_PKT
        j       ring_pkt
ring_pkt:
        ld      r3, ME(fp)
        bnez    r3, 2f
        ld      r4, NEXT(fp)
        li      r5, 0
        li      r6, 1
        call    pkt_output
        li      r5, 0
        call    pkt_input
        done
2:      li      r5, 0
        call    pkt_input
        move    r6, r2
        li      r5, 0
        ld      r4, NEXT(fp)
        call    pkt_output
        done

.align  2
program RING_WORD
        j       ring_word
ring_word:
        ld      r3, ME(fp)
        bnez    r3, 2f
        ld      r4, NEXT(fp)
        li      r5, 0
        li      r6, 1
        call    word_send
        li      r5, 0
        call    word_recv
        done
2:      li      r5, 0
        call    word_recv
        move    r6, r2
        li      r5, 0
        ld      r4, NEXT(fp)
        call    word_send
        done

.align  2
program RING_BLOCK
        j       ring_block
ring_block:
        ld      r3, ME(fp)
        bnez    r3, 2f
        put_next
        li      r5, 0
        call    pkt_input
        done
2:      li      r5, 0
        call    pkt_input
        put_next
        done

# --- Complete exchange (4.2) -----------------------------------------------------------------------------------------

.align  2
program LEX
        li      r10, 0
        j       lex
lex:    st      r10, J(fp)
        ld      r3, ME(fp)
        beq     r3, r10, 2f
        move    r4, r10
        put_block
        ld      r4, J(fp)
        port_of
        li      r5, 0
        li      r6, 1
        call    word_send
        j       4f
2:      ld      r10, COUNT(fp)
        subi    r10, r10, 1
3:      st      r10, K(fp)
        li      r5, 0
        call    word_recv
        ld      r10, K(fp)
        subi    r10, r10, 1
        bnez    r10, 3b
4:      ld      r10, J(fp)
        ld      r3, COUNT(fp)
        addi    r10, r10, 1
        blt     r10, r3, lex
        done

# r5 = pkt type of step r10.
.macro step_type
        andi    r5, r10, 15
.endm

# The block for PE NODE, and a pkt behind it.
.macro put_node
        ld      r4, NODE(fp)
        put_block
        ld      r4, NODE(fp)
        ld      r10, J(fp)
        port_of
        step_type
        li      r6, 1
        call    pkt_output
.endm

.align  2
program PEX
        li      r10, 1
        j       pex
pex:    st      r10, J(fp)
        ld      r3, ME(fp)
        xor     r4, r10, r3
        st      r4, NODE(fp)
        blt     r3, r4, 2f
        put_node
        call    pkt_input
        j       3f
2:      step_type
        call    pkt_input
        put_node
3:      ld      r10, J(fp)
        ld      r3, COUNT(fp)
        addi    r10, r10, 1
        blt     r10, r3, pex
        done

# Each block goes to its owner at once: 32, 16, .., 1 blocks. J = half of the group, NODE = partner, K = blocks.
.align  2
program REX
        ld      r10, COUNT(fp)
        j       rex
.macro rex_send
1:      st      r10, K(fp)
        ld      r3, ME(fp)
        ld      r5, J(fp)
        add     r3, r3, r10
        subi    r6, r5, 1
        ld      r4, NODE(fp)
        sub     r7, r0, r5
        and     r3, r3, r6
        and     r4, r4, r7
        or      r4, r4, r3
        put_block
        ld      r10, K(fp)
        subi    r10, r10, 1
        bnez    r10, 1b
        ld      r4, NODE(fp)
        ld      r5, SET(fp)
        port_of
        li      r6, 1
        call    pkt_output
.endm
rex:    srli    r10, r10, 1
        beqz    r10, 5f
        st      r10, J(fp)
        ld      r5, SET(fp)
        addi    r5, r5, 1
        st      r5, SET(fp)
        ld      r3, ME(fp)
        xor     r4, r3, r10
        st      r4, NODE(fp)
        blt     r3, r4, 2f
        rex_send
        call    pkt_input
        j       3f
2:      call    pkt_input
        ld      r10, J(fp)
        rex_send
3:      ld      r10, J(fp)
        j       rex
5:      done

# The classic way: in each step half of all blocks go to the partner, by way of whom they reach their owners. Block X
# of the buffer is the one for PE X at first, and in the end the one from PE X. It moves between the buffers SRC and
# DST, so nothing waits there that is still to be sent, if the partner is in the same step: the lower one says so.
.macro classic_send
        li      r10, 0
6:      st      r10, K(fp)
        ld      r3, ME(fp)
        ld      r5, J(fp)
        xor     r3, r3, r10
        and     r4, r3, r5
        beqz    r4, 8f                  # it stays
        ld      r6, COUNT(fp)
        sub     r6, r6, r5
        sub     r6, r6, r5
        and     r3, r3, r6              # the steps in which it moved: an even or odd number
        srli    r4, r3, 4
        xor     r3, r3, r4
        srli    r4, r3, 2
        xor     r3, r3, r4
        srli    r4, r3, 1
        xor     r3, r3, r4
        andi    r3, r3, 1
        ld      r7, SRC(fp)
        ld      r8, DST(fp)
        beqz    r3, 7f
        move    r9, r7
        move    r7, r8
        move    r8, r9
7:      ld      r9, SHIFT(fp)
        sll     r4, r10, r9
        add     r4, r4, r7
        xor     r3, r10, r5
        sll     r3, r3, r9
        add     r3, r3, r8
        ld      r5, NODE(fp)
        slli    r5, r5, 22
        add     r5, r5, r3
        ld      r6, N(fp)
        call    mem_copyout
        ld      r10, K(fp)
8:      addi    r10, r10, 1
        ld      r3, COUNT(fp)
        blt     r10, r3, 6b
        ld      r4, NODE(fp)
        port_of
        ld      r5, SET(fp)
        li      r6, 1
        call    pkt_output
.endm

.align  2
program REX_CLASSIC
        ld      r10, COUNT(fp)
        j       classic
classic:
        srli    r10, r10, 1
        beqz    r10, 5f
        st      r10, J(fp)
        ld      r5, SET(fp)
        addi    r5, r5, 1
        st      r5, SET(fp)
        ld      r3, ME(fp)
        xor     r4, r3, r10
        st      r4, NODE(fp)
        blt     r3, r4, 2f
        addi    r5, r5, 8
        call    pkt_input
        classic_send
        call    pkt_input
        j       3f
2:      port_of
        addi    r5, r5, 8
        li      r6, 1
        call    pkt_output
        ld      r5, SET(fp)
        call    pkt_input
        classic_send
3:      ld      r10, J(fp)
        j       classic
5:      done

.align  2
program WEX
        li      r10, 1
        j       wex
wex:    st      r10, J(fp)
        ld      r4, ME(fp)
        ld      r3, COUNT(fp)
        add     r4, r4, r10
        blt     r4, r3, 1f
        sub     r4, r4, r3
1:      put_block
        ld      r10, J(fp)
        ld      r3, COUNT(fp)
        addi    r10, r10, 1
        blt     r10, r3, wex
        li      r6, 0
        call    reduce
        done

# --- Broadcast (4.3): of N words, or of one pkt where N is 0; each receiver answers -----------------------------------

# The block at DST goes to the PE with port r4, and a pkt behind it; comes back when that PE has answered.
give:   ld      r6, N(fp)
        st      ra, RA2(fp)
        beqz    r6, 1f
        st      r4, NODE(fp)
        subi    r5, r4, PORT
        ld      r4, DST(fp)
        add     r5, r5, r4
        call    mem_copyout
        ld      r4, NODE(fp)
        ld      ra, RA2(fp)
1:      ld      r6, OWN(fp)
        output  0
        li      r5, 1
        j       pkt_input

# Waits for the block, and answers.
get_it: st      ra, RA2(fp)
        li      r5, 0
        call    pkt_input
        move    r4, r2
        li      r6, 1
        output  1
        ld      ra, RA2(fp)
        ret

.align  2
program LIB
        j       lib
lib:    ld      r3, ME(fp)
        bnez    r3, 2f
        li      r10, 1
4:      st      r10, J(fp)
        move    r4, r10
        port_of
        call    give
        ld      r10, J(fp)
        ld      r3, COUNT(fp)
        addi    r10, r10, 1
        blt     r10, r3, 4b
        done
2:      call    get_it
        done

# One step of the tree: PEs below 2^step have the block, and give it to those 2^step above.
.macro branch step
        ld      r4, PARTNERS + \step(fp)
        ld      r3, ME(fp)
        li      r5, 1 << \step
        beqz    r4, grown
        blt     r3, r5, 2f
        li      r5, 2 << \step
        bge     r3, r5, 3f
        call    get_it
        j       3f
2:      call    give
3:
.endm

.align  2
program REB
        j       reb
reb:    branch  0
        branch  1
        branch  2
        branch  3
        branch  4
        branch  5
grown:  done

# --- Operations on all PEs (4.4) --------------------------------------------------------------------------------------

.align  2
program REDUCTION
        ld      r6, ME(fp)
        call    reduce
        done

.align  2
program SHIFT_RIGHT
        j       shift
shift:  ld      r5, NEXT(fp)
        ld      r4, SRC(fp)
        ld      r3, DST(fp)
        subi    r5, r5, PORT
        add     r5, r5, r3
        ld      r6, N(fp)
        call    mem_copyout
        ld      r4, NEXT(fp)
        li      r6, 1
        output  0
        li      r5, 0
        call    pkt_input
        done

# Prefix sums over all words of all PEs: local sums, a chain of word messages, local additions.
.align  2
program SCAN
        j       scan
scan:   ld      r4, DST(fp)
        ld      r6, N(fp)
        li      r3, 0
1:      ld      r5, 0(r4)
        addi    r4, r4, 1
        add     r3, r3, r5
        st      r3, -1(r4)
        subi    r6, r6, 1
        bnez    r6, 1b
        st      r3, SUM(fp)
        li      r2, 0
        ld      r3, ME(fp)
        beqz    r3, 2f
        li      r5, 0
        call    word_recv
2:      st      r2, K(fp)
        ld      r3, ME(fp)
        addi    r4, r3, 1
        ld      r5, COUNT(fp)
        beq     r4, r5, 3f
        ld      r6, SUM(fp)
        add     r6, r6, r2
        ld      r4, NEXT(fp)
        li      r5, 0
        call    word_send
3:      ld      r2, K(fp)
        ld      r4, DST(fp)
        ld      r6, N(fp)
4:      ld      r5, 0(r4)
        addi    r4, r4, 1
        add     r5, r5, r2
        st      r5, -1(r4)
        subi    r6, r6, 1
        bnez    r6, 4b
        done

# --- From one PE to another -------------------------------------------------------------------------------------------

# The block at SRC of PE ARG goes to DST of PE ARG + 1, and a pkt behind it.
.align  2
program CARRY
        j       carry
carry:  ld      r3, ME(fp)
        ld      r4, ARG(fp)
        bne     r3, r4, 1f
        ld      r5, ARG + 1(fp)
        slli    r5, r5, 22
        ld      r3, DST(fp)
        add     r5, r5, r3
        ld      r4, SRC(fp)
        ld      r6, N(fp)
        call    mem_copyout
        ld      r4, ARG + 1(fp)
        port_of
        li      r5, 0
        li      r6, 1
        call    pkt_output
1:      ld      r3, ME(fp)
        ld      r4, ARG + 1(fp)
        bne     r3, r4, 2f
        li      r5, 0
        call    pkt_input
2:      done

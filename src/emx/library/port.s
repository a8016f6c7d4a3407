# The port of a PE: a frame at a fixed place, where threads and messages meet (paper, 3.1).
# Offset 1 + type: pkt messages, by matching. Offset 33 + type: word messages, which are buffered.

.align  6
.template PORT_CODE

# r1 = frame that waits, r2 = word.
.macro pkt_entry type
        .entry  1 + \type
        move    fp, r1
        ld      r3, RESUME(fp)
        jr      r3
.endm

# r1 = word.
.macro word_entry type
        .entry  33 + \type
        li      r3, QUEUES + 4 * \type
        j       word_arrived
.endm

        pkt_entry 0
        pkt_entry 1
        pkt_entry 2
        pkt_entry 3
        pkt_entry 4
        pkt_entry 5
        pkt_entry 6
        pkt_entry 7
        pkt_entry 8
        pkt_entry 9
        pkt_entry 10
        pkt_entry 11
        pkt_entry 12
        pkt_entry 13
        pkt_entry 14
        pkt_entry 15
        pkt_entry 16
        .entry  18
        trap    TRAP_TYPE
        word_entry 0
        word_entry 1
        word_entry 2
        word_entry 3
        word_entry 4
        word_entry 5
        word_entry 6
        word_entry 7
        word_entry 8
        word_entry 9
        word_entry 10
        word_entry 11
        word_entry 12
        word_entry 13
        word_entry 14
        word_entry 15
        word_entry 16
        .entry  50
        trap    TRAP_TYPE

# A type's queue: words HEAD and TAIL point into its ring of 64 words, aligned; WAITER is the frame that waits, or 0.
.equ    HEAD, 0
.equ    TAIL, 1
.equ    WAITER, 2

# r1 = word, r3 = queue.
word_arrived:
        ld      r4, WAITER(r3)
        bnez    r4, wake
        ld      r5, TAIL(r3)
        ld      r6, HEAD(r3)
        st      r1, 0(r5)
        addi    r5, r5, 1
        andi    r7, r5, 63
        bnez    r7, 1f
        subi    r5, r5, 64
1:      beq     r5, r6, full
        st.end  r5, TAIL(r3)
full:   trap    TRAP_QUEUE
wake:   st      r0, WAITER(r3)
        move    fp, r4
        move    r2, r1
        ld      r3, RESUME(fp)
        jr      r3

# A frame that waits has RESUME: there it goes on, with the word in r2.

# pkt_output(r4 port, r5 type, r6 word): not buffered.
pkt_output:
        add     r3, r4, r5
        addi    r3, r3, 1
        send    RIGHT, r3, r6
        ret

# r2 = pkt_input(r5 type).
pkt_input:
        ld      r4, OWN(fp)
        st      ra, RESUME(fp)
        add     r4, r4, r5
        addi    r4, r4, 1
        send.end LEFT, r4, fp

# word_send(r4 port, r5 type, r6 word): buffered.
word_send:
        add     r3, r4, r5
        addi    r3, r3, 33
        send    THREAD, r3, r6
        ret

# r2 = word_recv(r5 type).
word_recv:
        slli    r3, r5, 2
        addi    r3, r3, QUEUES
        ld      r5, HEAD(r3)
        ld      r6, TAIL(r3)
        beq     r5, r6, 2f
        ld      r2, 0(r5)
        addi    r5, r5, 1
        andi    r7, r5, 63
        bnez    r7, 1f
        subi    r5, r5, 64
1:      st      r5, HEAD(r3)
        ret
2:      st      ra, RESUME(fp)
        st.end  fp, WAITER(r3)

# What the port's threads do (paper, 3.1).

# A type's queue: words HEAD and TAIL point into its ring of RING words, aligned; WAITER is the frame that waits, or 0.
.equ    HEAD, 0
.equ    TAIL, 1
.equ    WAITER, 2

# r1 = word, r3 = queue, r4 = its waiter.
word_arrived:
        bnez    r4, wake
        ld      r5, TAIL(r3)
        ld      r6, HEAD(r3)
        st      r1, 0(r5)
        addi    r5, r5, 1
        andi    r7, r5, RING - 1
        bnez    r7, 1f
        subi    r5, r5, RING
1:      beq     r5, r6, full
        st.end  r5, TAIL(r3)
full:   trap    TRAP_QUEUE
wake:   st      r0, WAITER(r3)
        ld      r3, RESUME(r4)
        move    fp, r4
        move    r2, r1
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
        andi    r7, r5, RING - 1
        bnez    r7, 1f
        subi    r5, r5, RING
1:      st      r5, HEAD(r3)
        ret
2:      st      ra, RESUME(fp)
        st.end  fp, WAITER(r3)

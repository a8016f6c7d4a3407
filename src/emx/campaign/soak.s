# A program of the fault campaign: its commands stand in memory, five words each, and one thread does them in turn.
# Words of a command: where the code of it is, and then r4, r5, r6 and where a result goes.

# Frame of the program: J = this command, SUM = commands that are done.
.align  2
program SOAK
        ld      r10, ARG(fp)
        j       command
more:   ld      r10, J(fp)
        addi    r10, r10, 5
        ld      r3, SUM(fp)
        addi    r3, r3, 1
        st      r3, SUM(fp)
command:
        st      r10, J(fp)
        ld      r3, 0(r10)
        ld      r4, 1(r10)
        ld      r5, 2(r10)
        ld      r6, 3(r10)
        jr      r3

# The last command.
soak_end:
        ld      r2, SUM(fp)
        done

# Packets of one kind each: r4 = global address, r5 = data.
.macro soak_sends name, kind, tag
soak_\name:
        send    \kind, r4, r5, \tag
        j       more
.endm
soak_sends write, WRITE, 0
soak_sends right, RIGHT, 0
soak_sends type_8, 8, 0
soak_sends type_15, 15, 0
soak_sends side, 16, 0
soak_sends match, LEFT + WRITE, 0
soak_sends tag, WRITE, 5

# r6 packets, one behind the other.
soak_read:
        send    READ, r4, r5, WRITE
        subi    r6, r6, 1
        bnez    r6, soak_read
        j       more
soak_add:
        send    THREAD, r4, r5
        subi    r6, r6, 1
        bnez    r6, soak_add
        j       more
soak_urgent:
        send    URGENT, r4, r5
        subi    r6, r6, 1
        bnez    r6, soak_urgent
        j       more

# r4 = source, r5 = global destination, r6 = words.
soak_block:
        call    mem_copyout
        j       more

# r4 = port, r5 = type, r6 = word.
soak_word:
        call    word_send
        j       more

# A thread that does not end for so long: r4 = turns.
soak_spin:
        subi    r4, r4, 1
        bnez    r4, soak_spin
        j       more

# r4 = slot of a thread that answers, r5 = word, r6 = where it answers: type 0 of this PE's port.
soak_ask:
        send    LEFT, r4, r5
        send    RIGHT, r4, r6
        li      r5, 0
        call    pkt_input
result: ld      r10, J(fp)
        ld      r3, 4(r10)
        st      r2, 0(r3)
        j       more

# r4 = code of a function there, r5 = where frame and result come: type 16 of this PE's port, r6 = argument.
soak_call:
        send    CALL, r4, r5
        li      r5, 16
        call    word_recv
        ld      r10, J(fp)
        ld      r5, 2(r10)
        ld      r6, 3(r10)
        addi    r4, r2, 1
        send    LEFT, r4, r6
        send    RIGHT, r4, r5
        li      r5, 16
        call    word_recv
        j       result

# What the frames of a call run: r1 = argument, r2 = where the result goes.
.align  2
.template FUNCTION
.entry  1
        j       function
function:
        slli    r3, r1, 1
        add     r3, r3, r1
        addi    r3, r3, 7
        send    THREAD, r2, r3
        get     r4, PE
        slli    r4, r4, 22
        add     r4, r4, fp
        send.end FREE, r4, r0

# What others' packets start in the frame SERVE.
serve_add:
        srli    r3, r1, 24
        li      r4, SUMS
        add     r3, r3, r4
        slli    r1, r1, 8
        srli    r1, r1, 8
        ld      r5, 0(r3)
        add     r5, r5, r1
        st.end  r5, 0(r3)
# r1 = word, r2 = where the answer goes.
serve_ask:
        slli    r3, r1, 1
        addi    r3, r3, 1
        send.end RIGHT, r2, r3

# Entry 1: r1 = sender in bits 31:24, and a number that is added to its sum. Entry 8 + PE: what this PE asks.
.align  2
.template SERVE
.entry  1
        j       serve_add
.macro serve_entry from
        .entry  8 + \from
        j       serve_ask
.endm

# mem_copyout(r4 src, r5 global dest, r6 words): writes a block to another PE's memory (paper, 3.2).
# A function of its own: it has a frame, and is called and returns by packets to this PE (2.3).

mem_copyout:
        st      ra, RA(fp)
        frame   r9
        li      r10, COPYOUT
        st      r10, 0(r9)
        st      r4, 8(r9)
        st      r5, 9(r9)
        st      r6, 10(r9)
        own     r11
        add     r12, r11, r9
        addi    r12, r12, 1
        add     r13, r11, fp
        addi    r13, r13, 1
        send.end THREAD, r12, r13

.align  2
.template COPYOUT
.entry  1                               # r1 = continuation
        st      r1, 11(fp)
        ld      r4, 8(fp)
        ld      r5, 9(fp)
        j       copy_begin
.entry  2                               # r1 = words that are left: the thread had suspended itself
        ld      r4, 12(fp)
        ld      r5, 13(fp)
        sub     r4, r4, r1
        sub     r5, r5, r1
        move    r6, r1
        li      r7, CHUNK
copy_word:
        ld      r3, 0(r4)
        addi    r4, r4, 1
        send    WRITE, r5, r3
        addi    r5, r5, 1
        subi    r6, r6, 1
        beqz    r6, copy_end
        subi    r7, r7, 1
        bnez    r7, copy_word
        own     r8
        add     r8, r8, fp
        addi    r8, r8, 2
        send.end THREAD, r8, r6
copy_begin:
        ld      r6, 10(fp)
        beqz    r6, copy_end
        add     r9, r4, r6
        st      r9, 12(fp)
        add     r9, r5, r6
        st      r9, 13(fp)
        li      r7, CHUNK
        j       copy_word
copy_end:
        ld      r1, 11(fp)
        ld      r3, FREE_LIST(r0)
        st      r3, 0(fp)
        st      fp, FREE_LIST(r0)
        send.end THREAD, r1, r0

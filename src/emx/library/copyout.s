# mem_copyout(r4 src, r5 global dest, r6 words): writes a block to another PE's memory (paper, 3.2).
# It is called and returns by packets to this PE, as functions are (2.3). Its frame has a fixed place: a PE has one
# program thread (3.1). Entry 1 of the caller's template is where it comes back.

.equ    COPY_DEST, COPY + 8
.equ    COPY_WORDS, COPY + 9
.equ    COPY_BACK, COPY + 10            # continuation
.equ    COPY_SRC_END, COPY + 11
.equ    COPY_DEST_END, COPY + 12

mem_copyout:
        st      ra, RA(fp)
        own     r11
        add     r12, r11, fp
        addi    r12, r12, 1
        st      r12, COPY_BACK(r0)
        st      r5, COPY_DEST(r0)
        st      r6, COPY_WORDS(r0)
        addi    r12, r11, COPY + 8
        send.end THREAD, r12, r4

.align  2
.template COPYOUT
.entry  1                               # r1 = words that are left: the thread had suspended itself
        ld      r4, COPY_SRC_END(r0)
        ld      r5, COPY_DEST_END(r0)
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
        addi    r8, r8, COPY + 1
        send.end THREAD, r8, r6
copy_end:
        ld      r1, COPY_BACK(r0)
        send.end THREAD, r1, r0
.entry  8                               # r1 = src
        ld      r6, COPY_WORDS(r0)
        ld      r5, COPY_DEST(r0)
        move    r4, r1
        add     r3, r4, r6
        st      r3, COPY_SRC_END(r0)
        add     r3, r5, r6
        st      r3, COPY_DEST_END(r0)
        li      r7, CHUNK
        bnez    r6, copy_word
        j       copy_end

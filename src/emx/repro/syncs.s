# Rounds of writes, each with a sync behind it (paper, Fig. 1). Frame: 8 = where the words go, 9 = a word at PE 0,
# 10 = the sync's thread. r1 = rounds that are left, which is also what is written.

        .org    0x1000
        .template T
        .entry  1
        ld      r5, 8(fp)
        li      r6, 12
1:      send    WRITE, r5, r1
        addi    r5, r5, 1
        subi    r6, r6, 1
        bnez    r6, 1b
        ld      r5, 9(fp)
        send    WRITE, r5, r1
        ld      r5, 10(fp)
        send    SYNC, r5, r1
        subi    r1, r1, 1
        beqz    r1, 2f
        get     r8, PE
        slli    r8, r8, 22
        add     r8, r8, fp
        addi    r8, r8, 1
        send.end THREAD, r8, r1
2:      tell.end r1
        .entry  16
        li      r5, 0x7000
        li      r6, 12
3:      ld      r7, 0(r5)
        blt     r1, r7, 4f              # a word of an earlier round
        addi    r5, r5, 1
        subi    r6, r6, 1
        bnez    r6, 3b
        nop.end
4:      trap    9
        .org    0x1400
        .template WRITES
        .entry  1
        st.end  r1, 0(r2)

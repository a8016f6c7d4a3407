# The system frame's threads: what the special packets do where the hardware does not (paper, 2.1).
# r1 = the packet's data, r2 = its address, with its tag in bits 28:22.

.org    CODE
.template SYSTEM
.entry  1                               # WRITE
        st.end  r1, 0(r2)
.entry  2                               # READ
        j       system_read
.entry  3                               # CALL: the code at r2 gets a frame; the continuation r1 gets its address
        j       system_call
.entry  4                               # FREE
        ld      r3, FREE_LIST(r0)
        st      r3, 0(r2)
        st.end  r2, FREE_LIST(r0)
.entry  5
        trap    TRAP_USER
.entry  6
        trap    TRAP_USER
.entry  7
        trap    TRAP_USER

# The tag is the kind of the answer.
system_read:
        srli    r4, r2, 22
        slli    r2, r2, 10
        srli    r2, r2, 10
        ld      r3, 0(r2)
        bnez    r4, 1f
        send.end THREAD, r1, r3
1:      li      r5, WRITE
        bne     r4, r5, 2f
        send.end WRITE, r1, r3
2:      li      r5, LEFT
        bne     r4, r5, 3f
        send.end LEFT, r1, r3
3:      li      r5, RIGHT
        bne     r4, r5, 4f
        send.end RIGHT, r1, r3
4:      trap    TRAP_KIND

system_call:
        frame   r3
        st      r2, 0(r3)
        own     r4
        add     r4, r4, r3
        send.end THREAD, r1, r4

# No frame is left.
no_frames:
        trap    TRAP_FRAMES

# The port of a PE: a frame at a fixed place, where threads and messages meet (paper, 3.1).
# Offset 1 + type: pkt messages, by matching. Offset 33 + type: word messages, which are buffered.

.align  6
.template PORT_CODE

# r1 = frame that waits, r2 = word.
.macro pkt_entry type
        .entry  1 + \type
        ld      r3, RESUME(r1)
        move    fp, r1
        jr      r3
.endm

# r1 = word.
.macro word_entry type
        .entry  33 + \type
        li      r3, QUEUES + 4 * \type
        ld      r4, WAITER(r3)
        j       word_arrived
.endm

# What all sources use.

# A frame's words behind its link.
.equ    RA, 2                           # where mem_copyout comes back to
.equ    RESUME, 3                       # where pkt_input or word_recv comes back to
.equ    RA2, 4                          # of a routine that calls these
# The host's arguments.
.equ    ME, 8                           # number of this PE among COUNT
.equ    COUNT, 9
.equ    N, 10                           # words of a block
.equ    SRC, 11                         # blocks to be sent, 2^SHIFT words apart
.equ    DST, 12                         # buffer for the blocks that come
.equ    SHIFT, 13
.equ    NEXT, 14                        # port of the next PE of a ring
.equ    PLACE, 15                       # this PE's block in everybody's buffer
.equ    OWN, 5                          # this PE's port
.equ    PARTNERS, 32                    # ports of the partners in a butterfly, then 0
.equ    ARG, 40                         # what the host gives to its own thread: ARG, ARG + 1, and so on
# The programs' variables.
.equ    J, 16
.equ    NODE, 17
.equ    K, 18
.equ    SUM, 19
.equ    SET, 20                         # which of two sets of pkt types is next; in rex, the type

# \a = the address of this PE's word 0 in the global space.
.macro own a
        get     \a, PE
        slli    \a, \a, 22
.endm

# \a = a free frame.
.macro frame a
        ld      \a, FREE_LIST(r0)
        beqz    \a, no_frames
        ld      r13, 0(\a)
        st      r13, FREE_LIST(r0)
.endm

# What begins every program: entry 1 comes back from mem_copyout, entry 2 is where the host starts it.
.macro program name
        .template \name
        .entry  1
        ld      ra, RA(fp)
        ret
        .entry  2
.endm

# The whole program is done: the host gets r2.
.macro done
        tell.end r2
.endm

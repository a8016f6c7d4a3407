# Indirect write and message exchange: the header gets another remote address, and the hardware goes on as for a PUSH.

# Only a PUSH goes on by a miss, and has TYPE 0 then: pointers cannot lead in a circle. t0: RX_STOP.

# A PUSH to an indirect region: as an INDIRECT packet.
indirect_region:
        lw   $t1, W0($gp)
        andi $t0, $t0, RX_STOP_TYPE_MASK
        xori $t0, $t0, TYPE_PUSH << RX_STOP_TYPE_SHIFT
        bnez $t0, refuse_range
        addiu $t1, $t1, -TYPE_PUSH
        sw   $t1, W0($gp)
indirect:
        jal  cell
        li   $a1, 8
        b    follow
        lw   $t0, 0($v0)

# A PUSH to an indirect page: its frame in LLCM has the pointer. a0, a1: halves of the page's key. The first place that
# the page may have in the table is looked at here.
indirect_page:
        lw   $t2, W0($gp)
        andi $t1, $t0, RX_STOP_TYPE_MASK
        xori $t1, $t1, TYPE_PUSH << RX_STOP_TYPE_SHIFT
        bnez $t1, refuse_range
        addiu $t2, $t2, -TYPE_PUSH
        sw   $t2, W0($gp)
        xor  $t0, $a0, $a1
        andi $t0, $t0, PAGES - 1
        sll  $t0, $t0, 4
        lw   $t1, PAGE_TABLE($t0)
        lw   $t2, PAGE_TABLE + 4($t0)
        lw   $t3, W2($gp)
        bne  $t1, $a0, 2f
        lw   $t0, PAGE_TABLE + 8($t0)
        bne  $t2, $a1, 2f
1:      lui  $t1, LLCM_PAGE >> 16
        subu $t0, $t0, $t1
        sltiu $t1, $t0, SIZE_LLCM >> 12
        beqz $t1, refuse_range
        sll  $t0, $t0, 12
        andi $t3, $t3, 0xff8
        addu $v0, $t0, $t3
        addu $v0, $v0, $s0
        lw   $t0, 0($v0)
# v0: address of a pointer in LLCM; t0: its low half.
follow: lw   $t1, 4($v0)
        sw   $t0, W2($gp)
        sw   $t1, W2 + 4($gp)
        sw   $s1, RX_GO($gp)
        jr   $s7
        rfe

2:      jal  find_page
        nop
        b    1b
        lw   $t0, 8($v0)

# The cell that the stopped packet names: a1 bytes at W2, in a region in LLCM. v0: its address. Takes a0, a2, t0 to t3.
cell:   lw   $t2, W2 + 4($gp)
        lw   $a0, W1($gp)
        lw   $a2, W2($gp)
        srl  $t3, $t2, 16
        sll  $t3, $t3, 16
        andi $a0, $a0, HDR_W1_PGID_MASK
        or   $a0, $a0, $t3
        move $t3, $ra
        jal  find_region
        andi $t2, $t2, 0xffff                   # offset, bits 47 to 32
        lw   $t0, 12($v0)                       # LLCM is its sign
        srl  $t1, $a2, LLCM_BITS
        bgez $t0, refuse_rights
        or   $t2, $t2, $t1
        lw   $t0, 16($v0)                       # bound
        andi $t1, $a2, 7
        or   $t2, $t2, $t1
        bnez $t2, refuse_range
        addu $t1, $a2, $a1
        sltu $t0, $t0, $t1
        bnez $t0, refuse_range
        lw   $v0, 8($v0)                        # base
        addu $a2, $a2, $s0
        jr   $t3
        addu $v0, $v0, $a2

# Message: a posted area takes one packet, the system buffer the others. The host writes POINTER only while it names the
# system buffer, the firmware only while it does not; FREE is the host's only while it is OVERFLOW.
message:
        jal  cell
        li   $a1, CELL_BYTES
        lw   $t1, CELL_POINTER + 4($v0)         # before the lower half: the host may post now
        lw   $t2, CELL_SYSTEM($v0)
        lw   $t0, CELL_POINTER($v0)
        beq  $t1, $t2, 1f
        lw   $t3, CELL_FREE($v0)
        sw   $t0, W2($gp)
        sw   $t1, W2 + 4($gp)
        sw   $s1, RX_GO($gp)
        sw   $t3, CELL_POINTER($v0)             # before the upper half: the host may post then
        sw   $t2, CELL_POINTER + 4($v0)
        jr   $s7
        rfe
1:      lw   $t1, W0 + 4($gp)
        lw   $t4, CELL_LIMIT($v0)
        srl  $t1, $t1, HDR_W0_LENGTH_SHIFT - 32
        sltu $t0, $t4, $t3
        bnez $t0, refuse_overflow
        andi $t0, $t3, 0xfff
        addu $t0, $t0, $t1
        sltiu $t0, $t0, SIZE_PAGE + 1
        bnez $t0, 2f
        addiu $t1, $t1, 7
        addiu $t3, $t3, 0xfff                   # the next page: a packet has one
        srl  $t3, $t3, 12
        sll  $t3, $t3, 12
2:      srl  $t1, $t1, 3
        sll  $t1, $t1, 3
        addu $t1, $t1, $t3
        sltu $t0, $t4, $t1
        bnez $t0, 3f
        sw   $t3, W2($gp)
        sw   $t2, W2 + 4($gp)
        sw   $s1, RX_GO($gp)
        sw   $t1, CELL_FREE($v0)
        jr   $s7
        rfe
3:      li   $t0, -1
        sw   $t0, CELL_FREE($v0)
refuse_overflow:
        b    refuse
        li   $a0, REFUSE | (REASON_OVERFLOW << RX_GO_REASON_SHIFT)

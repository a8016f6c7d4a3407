# Misses of RVATLB and PATLB: of the receiver, and of the RDMA engine.
#
# Regions and pages from INDIRECT_FROM on stand in the tables, but never in a TLB: a PUSH to one of them is an indirect
# write, once for each packet. TYPE 0 in the stopped header marks that it was.

# t2: 0 for a miss of PATLB.
miss:   lw   $a0, RX_PAGE($gp)
        beqz $t2, page_miss
        lw   $a1, RX_PAGE + 4($gp)
        sltu $t1, $a0, $s5
        beqz $t1, indirect_region
        li   $t9, SETTLE
        jal  fill_region
        nop
# The packet may miss PATLB next. It is served before RDMA, whose regions would take its place in RVATLB.
1:      lw   $t0, RX_STOP($gp)
        addiu $t9, $t9, -1
        andi $t1, $t0, RX_STOP_CAUSE_MASK
        bnez $t1, dispatch
        nop
        bnez $t9, 1b
        nop
        jr   $s7
        rfe

page_miss:
        sll  $t1, $a0, 4
        sltu $t1, $t1, $s5
        beqz $t1, indirect_page
        or   $a1, $a1, $gp                      # VALID
        jal  fill_page
        nop
        jr   $s7
        rfe

# The RDMA engine waits, or nothing does: the interrupt of a stop that has ended.
rdma:   srl  $t1, $t0, RX_STOP_RDMA_SHIFT
        andi $t1, $t1, 1
        beqz $t1, 3f
        lw   $a0, RDMA_KEY($gp)
        lw   $a1, RDMA_KEY + 4($gp)
        addiu $a3, $gp, RDMA_GO
        srl  $t1, $t0, RX_STOP_RDMA_CAUSE_SHIFT
        andi $t1, $t1, 15
        addiu $t1, $t1, -STOP_RVATLB
        bnez $t1, 1f
        sltu $t1, $a0, $s5
        beqz $t1, refuse_range
        nop
        jal  fill_region
        nop
        addiu $a3, $gp, RX_GO
        jr   $s7
        rfe
1:      sll  $t1, $a0, 4
        sltu $t1, $t1, $s5
        beqz $t1, refuse_range
        or   $a1, $a1, $gp
        jal  fill_page
        nop
        addiu $a3, $gp, RX_GO
3:      jr   $s7
        rfe

refuse_range:
        b    refuse
        li   $a0, REFUSE | (REASON_RANGE << RX_GO_REASON_SHIFT)

# a0: region << 16 | stamp. RVATLB takes its entry, and the stop ends.
fill_region:
        move $t8, $ra
        jal  find_region
        nop
        lw   $t0, 4($v0)
        sw   $a0, RVATLB + RVA_KEY($gp)
        lw   $t1, 8($v0)
        sw   $t0, RVATLB + RVA_KEY + 4($gp)
        lw   $t0, 12($v0)
        sw   $t1, RVATLB + RVA_BASE($gp)
        lw   $t1, 20($v0)
        sw   $t0, RVATLB + RVA_BASE + 4($gp)
        lw   $t0, 16($v0)
        sw   $t1, RVATLB + RVA_BOUND + 4($gp)
        sw   $t0, RVATLB + RVA_BOUND($gp)       # the low half of the last word stores the entry
        jr   $t8
        sw   $s1, 0($a3)

# a0, a1: halves of a PATLB key with VALID. PATLB takes its entry, and the stop ends.
fill_page:
        move $t8, $ra
        jal  find_page
        nop
        lw   $t0, 8($v0)
        sw   $a0, PATLB + PA_KEY($gp)
        sw   $a1, PATLB + PA_KEY + 4($gp)
        sw   $t0, PATLB + PA_FRAME($gp)
        jr   $t8
        sw   $s1, 0($a3)

# a0: region << 16 | stamp. v0: its entry; where there is none, the stop ends with RIGHTS. Takes t0, t1.
find_region:
        srl  $t0, $a0, 16
        xor  $t0, $t0, $a0
        andi $t0, $t0, REGIONS - 1
        sll  $t0, $t0, 5
        addiu $v0, $t0, REGION_TABLE
        lw   $t1, 0($v0)
        li   $t0, PROBES
1:      beq  $t1, $a0, found
        addiu $t0, $t0, -1
        lw   $t1, 32($v0)
        bnez $t0, 1b
        addiu $v0, $v0, 32
refuse_rights:
        b    refuse
        li   $a0, REFUSE | (REASON_RIGHTS << RX_GO_REASON_SHIFT)
found:  jr   $ra
        nop

# a0, a1: halves of a PATLB key with VALID. v0: its entry; where there is none, the stop ends with RIGHTS.
# Takes t0 to t2.
find_page:
        xor  $t0, $a0, $a1
        andi $t0, $t0, PAGES - 1
        sll  $t0, $t0, 4
        addiu $v0, $t0, PAGE_TABLE
        li   $t0, PROBES
1:      lw   $t1, 0($v0)
        lw   $t2, 4($v0)
        bne  $t1, $a0, 2f
        addiu $t0, $t0, -1
        beq  $t2, $a1, found
        nop
2:      bnez $t0, 1b
        addiu $v0, $v0, 16
        b    refuse_rights
        nop

# Reset, exceptions, the wait for a stop, and the way to the routine of a stop.
#
# Nothing runs but routines of stops, one after the other: no register needs saving. What stands for good:
#   gp  registers of the card; RX_* and the tables are within 32 KB of it    s0  LLCM
#   s1  GO_CONTINUE                                                          s5  INDIRECT_FROM
#   s6  the two bits of RX_STOP that say that something waits               s7  where a routine ends: `idle` or `poll`
#   a3  the register that ends the stop: RX_GO, and RDMA_GO only within the routine of a stop of RDMA
# A routine ends with `jr $s7` and `rfe`, which changes nothing where no interrupt came. It finds RX_STOP in t0.

        .equ REGISTERS, 0x80000000
        .equ W0, RX_HEADER + HDR_W0
        .equ W1, RX_HEADER + HDR_W1
        .equ W2, RX_HEADER + HDR_W2
        .equ W4, RX_HEADER + HDR_W4
        .equ WAITING, RX_STOP_STOPPED_MASK | RX_STOP_RDMA_MASK
        .equ REFUSE, GO_NACK                    # with a reason in bits 7:4
        .equ STATUS_IRQ, 0x401                  # interrupt IP2 is let in, interrupts are on
        .equ EXC_CODE, 0x7c                     # field of Cause; 0: an interrupt
        .equ FIRST_TYPE, TYPE_INDIRECT << 2     # in units of the table `types`

        .org 0
        j    boot
        nop

        .org 0x80
        mfc0 $k0, $cause
        lw   $t0, RX_STOP($gp)
        andi $k0, $k0, EXC_CODE
        bnez $k0, fault
        andi $t1, $t0, RX_STOP_CAUSE_MASK

# t1: why the receiver is stopped, or 0. It comes first, for the network waits behind it.
dispatch:
        addiu $t1, $t1, -(STOP_TYPE << RX_STOP_CAUSE_SHIFT)
        bgtz $t1, miss
        andi $t2, $t1, (STOP_RVATLB - STOP_TYPE) << RX_STOP_CAUSE_SHIFT
        bltz $t1, rdma
        srl  $t1, $t0, RX_STOP_TYPE_SHIFT - 2
        andi $t1, $t1, 0x3fc                    # type, in units of the table
        lw   $t2, types - FIRST_TYPE($t1)
        addiu $t1, $t1, -FIRST_TYPE
        sltiu $t1, $t1, types_end - types
        beqz $t1, refuse
        li   $a0, REFUSE | (REASON_TYPE << RX_GO_REASON_SHIFT)
        jr   $t2
        nop

        .align 2
types:  .word indirect, message, barrier, soft, chain
types_end:

# a0: word for the register that a3 names.
refuse: sw   $a0, 0($a3)
        addiu $a3, $gp, RX_GO
        jr   $s7
        rfe

boot:   lui  $gp, REGISTERS >> 16
        lui  $s0, (REGISTERS + LLCM) >> 16
        li   $s1, GO_CONTINUE
        addiu $a3, $gp, RX_GO
        lui  $s5, INDIRECT_FROM >> 16
        li   $s6, WAITING
        lw   $t0, CONTROL($gp)
        la   $s7, poll
        andi $t0, $t0, CONTROL_POLL_MASK
        bnez $t0, poll
        li   $t0, STATUS_IRQ
        la   $s7, idle
        mtc0 $t0, $status
idle:   b    idle
        nop

poll:   lw   $t0, RX_STOP($gp)
        nop
        and  $t1, $t0, $s6
1:      bnez $t1, dispatch
        andi $t1, $t0, RX_STOP_CAUSE_MASK
        lw   $t0, RX_STOP($gp)
        b    1b
        and  $t1, $t0, $s6

# An exception that is no interrupt: a routine failed. Its packet, or else the descriptor, is refused, the host is
# called, and all begins anew.
fault:  lw   $t0, RX_STOP($gp)
        mfc0 $t1, $cause
        andi $t2, $t0, RX_STOP_STOPPED_MASK
        li   $a0, REFUSE | (REASON_FIRMWARE << RX_GO_REASON_SHIFT)
        beqz $t2, 1f
        srl  $t2, $t0, RX_STOP_RDMA_SHIFT
        b    2f
        sw   $a0, RX_GO($gp)
1:      andi $t2, $t2, 1
        beqz $t2, 2f
        nop
        sw   $a0, RDMA_GO($gp)
2:      j    boot
        sw   $t1, CALL($gp)

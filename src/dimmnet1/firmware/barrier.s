# Counting barrier: OFFSET selects a counter, 8 bytes apart. The last arrival sends the prepared packets.

barrier:
        lw   $t1, W2($gp)
        lw   $t2, W1($gp)
        sltiu $t3, $t1, BARRIERS << 3
        beqz $t3, refuse_range
        srl  $t1, $t1, 3
        sll  $t1, $t1, 4
        andi $t2, $t2, HDR_W1_PGID_MASK
        lw   $t3, BARRIER_TABLE + BARRIER_STAMP($t1)
        or   $t2, $t2, $gp
        bne  $t2, $t3, refuse_rights
        li   $t2, GO_DROP                       # the hardware becomes idle
        sw   $t2, RX_GO($gp)
        lw   $t2, BARRIER_TABLE + BARRIER_LEFT($t1)
        nop
        addiu $t2, $t2, -1
        bnez $t2, 2f
        sw   $t2, BARRIER_TABLE + BARRIER_LEFT($t1)
        lhu  $t3, BARRIER_TABLE + BARRIER_PACKETS($t1)
        lhu  $t9, BARRIER_TABLE + BARRIER_PACKETS + 2($t1)
        li   $t2, BUILD_GO_DATA_MASK
# t9 packets from t3 on.
1:      lw   $t4, 0($t3)
        lw   $t5, 4($t3)
        sw   $t4, BUILD($gp)
        lw   $t4, 8($t3)
        sw   $t5, BUILD + 4($gp)
        lw   $t5, 12($t3)
        sw   $t4, BUILD + 8($gp)
        lw   $t4, 16($t3)
        sw   $t5, BUILD + 12($gp)
        lw   $t5, 20($t3)
        sw   $t4, BUILD + 16($gp)
        lw   $t4, 24($t3)
        sw   $t5, BUILD + 20($gp)
        lw   $t5, 28($t3)
        sw   $t4, BUILD + 24($gp)
        sw   $t5, BUILD + 28($gp)
        addiu $t9, $t9, -1
        sw   $t2, BUILD_GO($gp)
        bgtz $t9, 1b
        addiu $t3, $t3, PACKET_BYTES
        lw   $t2, BARRIER_TABLE + BARRIER_START($t1)
        nop
        sw   $t2, BARRIER_TABLE + BARRIER_LEFT($t1)
2:      jr   $s7
        rfe

# Chains of receive commands: each stop of the packet begins one part. Between its stops only misses and RDMA are served,
# which leave these registers alone:
#   s2, s3  place of the next block     s4  bytes of a block and PART, as RX_GO has them     k1  blocks to come
#   fp  stride                          v1, t7  the next command: offset, and its region in the upper half

chain:  andi $t1, $t0, RX_STOP_MORE_MASK
        bnez $t1, 2f
        lw   $t1, W2 + 4($gp)
        nop
        srl  $t7, $t1, 16
        sll  $t7, $t7, 16
1:      jal  cell
        li   $a1, COMMAND_BYTES
        lw   $t0, CHAIN_SHAPE($v0)
        lw   $fp, CHAIN_SHAPE + 4($v0)
        srl  $t1, $t0, CHAIN_SHAPE_KIND_SHIFT
        addiu $t1, $t1, -CHAIN_KIND_WRITE
        bnez $t1, refuse_type
        srl  $k1, $t0, CHAIN_SHAPE_COUNT_SHIFT
        andi $k1, $k1, 0xff
        beqz $k1, refuse_range
        sll  $s4, $t0, RX_GO_BYTES_SHIFT
        lw   $s2, CHAIN_PLACE($v0)
        lw   $s3, CHAIN_PLACE + 4($v0)
        lw   $v1, CHAIN_NEXT($v0)
        ori  $s4, $s4, GO_PART
2:      beqz $k1, 3f
        addiu $k1, $k1, -1
        sw   $s2, W2($gp)
        sw   $s3, W2 + 4($gp)
        sw   $s4, RX_GO($gp)
        addu $s2, $s2, $fp
        jr   $s7
        rfe
3:      sw   $v1, W2($gp)
        b    1b
        sw   $t7, W2 + 4($gp)

refuse_type:
        b    refuse
        li   $a0, REFUSE | (REASON_TYPE << RX_GO_REASON_SHIFT)

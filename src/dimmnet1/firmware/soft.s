# Message exchange all in software: sequence check, receive cell, translation, DMA, count of bytes, flag, answer.
#
# The cell is the host's while DONE is not 0, and the firmware's while it is.

soft:   jal  cell
        li   $a1, SOFT_BYTES
        lw   $t0, SOFT_DONE($v0)
        lw   $s2, W0($gp)                       # flags, SRC
        bnez $t0, refuse_overflow               # nothing is posted
        move $v1, $v0
        lw   $s3, W1($gp)                       # stamp, TAG
        lw   $s4, W1 + 4($gp)                   # SEQ
# Flow control. s2's flag says later whether t9 is the place of the source's next number.
        andi $t0, $s2, HDR_W0_F_SEQ_MASK
        beqz $t0, 1f
        srl  $t9, $s2, HDR_W0_SRC_SHIFT
        andi $t9, $t9, NODES - 1
        sll  $t9, $t9, 2
        lw   $t0, SEQ_TABLE($t9)
        nop
        subu $t0, $s4, $t0
        bltz $t0, refuse_sequence
# The message: t4 bytes come behind t5 bytes, up to fp, of t6 bytes.
1:      lw   $t4, W0 + 4($gp)
        lw   $t5, SOFT_COUNT($v1)
        lw   $t6, W4($gp)
        srl  $t4, $t4, HDR_W0_LENGTH_SHIFT - 32
        lw   $k1, W4 + 4($gp)                   # the message's number
        beqz $t4, refuse_length
        addu $fp, $t5, $t4
        lw   $t0, SOFT_NUMBER($v1)
        lw   $t1, SOFT_ROOM($v1)
        beqz $t5, 2f                            # the first packet of a message
        sltu $t2, $t6, $fp
        bne  $t0, $k1, refuse_overflow          # another message is coming in
        nop
2:      bnez $t2, refuse_range
        sltu $t1, $t1, $t6
        bnez $t1, refuse_range
# Translation: a2 is the offset of the first byte, t7 the offset behind the last.
        lw   $a2, SOFT_AREA($v1)
        lw   $a0, SOFT_AREA + 4($v1)
        addu $a2, $a2, $t5
        sltu $t0, $a2, $t5
        andi $t1, $a0, 0xffff                   # offset, bits 47 to 32
        or   $t0, $t0, $t1
        addu $t7, $a2, $t4
        sltu $t1, $t7, $t4
        or   $t0, $t0, $t1
        bnez $t0, refuse_range
        andi $t8, $s3, HDR_W1_PGID_MASK
        jal  find_region
        or   $a0, $a0, $t8
        lw   $t0, 20($v0)                       # bound, bit 32
        lw   $t1, 16($v0)                       # bound
        lw   $t2, 12($v0)                       # rights, LLCM
        bnez $t0, 3f
        sltu $t0, $t1, $t7
        bnez $t0, refuse_range
3:      sll  $t0, $t2, 63 - RVA_BASE_WRITE_SHIFT
        bgez $t0, refuse_rights
        lw   $a0, 8($v0)                        # base
        bgez $t2, 4f
        srl  $t0, $a2, 12
        lui  $t0, LLCM_PAGE >> 4
        addu $a0, $a0, $a2
        b    5f
        addu $a2, $a0, $t0
4:      addu $a0, $a0, $t0
        jal  find_page
        or   $a1, $t8, $gp                      # VALID
        lw   $t8, 8($v0)
        andi $t0, $a2, 0xfff
        sll  $a2, $t8, 12
        or   $a2, $a2, $t0
        addu $t0, $t0, $t4
        sltiu $t0, $t0, SIZE_PAGE + 1
        bnez $t0, 5f
        nop
# The packet goes on in the next page, whose frame must be the next one.
        jal  find_page
        addiu $a0, $a0, 1
        lw   $t0, 8($v0)
        addiu $t8, $t8, 1
        bne  $t0, $t8, refuse_range
        nop
5:      andi $t0, $a2, 7
        bnez $t0, refuse_length
        sw   $a2, RX_DMA($gp)
        li   $t0, GO_DMA
        sw   $t0, RX_GO($gp)
# The answer, while the data move: all but its type and reason.
        srl  $t1, $s2, HDR_W0_SRC_SHIFT
        sw   $t1, BUILD + HDR_W0 + 4($gp)
        sw   $s3, BUILD + HDR_W1($gp)
        sw   $zero, BUILD + HDR_W1 + 4($gp)
        sw   $s4, BUILD + HDR_W2 + 4($gp)
        li   $t2, DMA_POLLS
1:      lw   $t0, RX_STOP($gp)
        addiu $t2, $t2, -1
        sll  $t1, $t0, 31 - RX_STOP_DONE_SHIFT
        bltz $t1, 2f
        srl  $t0, $t0, RX_STOP_DONE_REASON_SHIFT
        bnez $t2, 1b
        nop
        li   $t0, REASON_TIMEOUT
2:      bnez $t0, 5f
        li   $t1, TYPE_NACK | HDR_W0_OTF_MASK
        li   $t1, TYPE_ACK | HDR_W0_OTF_MASK
        andi $t2, $s2, HDR_W0_F_SEQ_MASK
        beqz $t2, 3f
        addiu $s4, $s4, 1
        sw   $s4, SEQ_TABLE($t9)
3:      sw   $k1, SOFT_NUMBER($v1)
        bne  $fp, $t6, 5f
        sw   $fp, SOFT_COUNT($v1)
        sw   $fp, SOFT_DONE($v1)
5:      andi $t2, $s2, HDR_W0_ACK_REQ_MASK
        beqz $t2, 6f
        nop
        sw   $t1, BUILD + HDR_W0($gp)
        sw   $t0, BUILD + HDR_W2($gp)
        sw   $zero, BUILD_GO($gp)
6:      jr   $s7
        rfe

refuse_sequence:
        b    refuse
        li   $a0, REFUSE | (REASON_SEQUENCE << RX_GO_REASON_SHIFT)
refuse_length:
        b    refuse
        li   $a0, REFUSE | (REASON_LENGTH << RX_GO_REASON_SHIFT)

// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 matcher: indirect writes, message exchange and chains of receive commands without the processor, on the
// firmware's cells in LLCM.
//
// Packet     `valid_i`: the receiver offers the packet that waits (mat_valid_o of dimmnet1_rx), of `type_i`, `bytes_i`
//            and `region_i`. It holds them until one of these ends the offer, for one cycle:
//              `pass_o`      the packet is the processor's: another type, or its cell's region is not in RVATLB.
//              `go_valid_o`  CONTINUE, PART with `go_bytes_o`, or NACK with `go_reason_o`.
//            `place_valid_o`: `place_o` is header word 2 from now on. `more_i`: the packet is offered behind its part.
// Cell       named by header word 2; the receiver gives the TLBs the rest of the request. RIGHTS: it is not in LLCM.
//            INDIRECT: one word, the place for the data. MESSAGE: three words (docs/machines/dimmnet1-firmware.md).
//            A posted area gets one packet, and POINTER is the system buffer's again; other packets go to the
//            system buffer, FREE moves on, and OVERFLOW is refused.
// Chain      CHAIN: the cell is a receive command of three words (regs.toml). Each block is a part; behind the last one
//            word 2 names the next command, in the region of the first. A kind that is none is refused, TYPE; COUNT 0
//            and a place that is not aligned, RANGE. Each command takes data, so a chain that leads in a circle ends
//            with the packet.
// Order      POINTER is read before FREE. What a packet changes is written before the next one's cell is read. The
//            processor must not serve packets of a cell that is matched: its region stays in RVATLB, or out of it.
// Latency    from `valid_i` to `go_valid_o`, with a TLB of 2 cycles and an idle LLCM: INDIRECT 7 cycles, MESSAGE and
//            a chain's first block 12, a next block 1, the first one of a next command 13.
// Waits      for TLB and LLCM, which are bounded.
// Reset      drops the packet and its write.
// busy_o     low when no packet and no write is inside.
// Source     paper, sections 3.4 and 6 (in hardware what the firmware does; TS/1). Cells and checks are ours.
module dimmnet1_matcher (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic valid_i,
    input logic [7:0] type_i,
    input logic [12:0] bytes_i,
    input logic [15:0] region_i,
    input logic more_i,
    output logic pass_o,
    output logic go_valid_o,
    output logic [2:0] go_what_o,
    output logic [3:0] go_reason_o,
    output logic [15:0] go_bytes_o,
    output logic place_valid_o,
    output logic [63:0] place_o,

    output logic tlb_req_valid_o,
    input logic tlb_req_ready_i,
    output logic [12:0] tlb_req_bytes_o,
    input logic tlb_rsp_valid_i,
    input logic [13:3] tlb_rsp_word_i,
    input logic [3:0] tlb_rsp_reason_i,
    input logic tlb_rsp_miss_i,

    output logic mat_valid_o,
    input logic mat_ready_i,
    output logic mat_write_o,
    output logic [13:3] mat_addr_o,
    output logic [63:0] mat_wdata_o,
    output logic [7:0] mat_strb_o,
    input logic mat_rvalid_i,
    input logic [63:0] mat_rdata_i
);
  typedef enum logic [2:0] {
    Idle,
    Next,   // word 2 names the chain's next command
    Look,   // the cell's address is asked for
    Wait,   // until it is there
    Read,   // the cell's words
    Judge,  // where the message goes, or whether the command is one
    Go,
    Pass
  } state_e;
  state_e state_q;
  logic [13:3] word_q;  // the cell's first
  logic [1:0] words_q, sent_q, got_q;  // its words: all, asked for, there
  logic [63:0] pointer_q;
  logic [31:0] free_q, limit_q, system_q;
  logic [15:0] region_q;  // the chain's
  logic posted_q, over_q, write_q, chain_q;
  logic [3:0] reason_q;

  // ------------------------------------------------------------------------------------- room in the system buffer
  logic [31:0] start_q, end_q;
  logic [12:0] page_end;
  logic full_q, crosses, overflows, posted;
  assign page_end = {1'b0, free_q[11:0]} + bytes_i;  // at most 8191
  assign crosses = page_end[12] && page_end[11:0] != '0;
  assign posted = pointer_q[63:32] != system_q;
  assign overflows = full_q || end_q > limit_q;

  always_ff @(posedge clk_i) begin
    if (state_q == Read) begin
      full_q  <= free_q > limit_q;
      start_q <= crosses ? {free_q[31:12] + 20'd1, 12'd0} : free_q;
      end_q   <= start_q + {19'd0, bytes_i[12:3] + 10'(bytes_i[2:0] != '0), 3'd0};
    end
  end

  // --------------------------------------------------------------------------------------------------------- packet
  logic message, chain, reads, ends;
  assign message = type_i == 8'(dimmnet1_pkg::TypeMessage);
  assign chain   = type_i == 8'(dimmnet1_pkg::TypeChain);

  // A command: the place of the next block in pointer_q, its length and the number of blocks in free_q, the stride in
  // limit_q, the next command in system_q.
  logic blocks, is_write;
  assign blocks = free_q[dimmnet1_pkg::ChainShapeCountLsb+:8] != '0;
  assign is_write = free_q[dimmnet1_pkg::ChainShapeKindLsb+:8] == 8'(dimmnet1_pkg::ChainKindWrite);
  assign reads = state_q == Read && sent_q != words_q;
  assign ends = mat_rvalid_i && got_q + 2'd1 == words_q;

  always_ff @(posedge clk_i) begin
    if (mat_ready_i) write_q <= 1'b0;
    case (state_q)
      Idle:
      if (valid_i && !write_q) begin
        words_q  <= (message || chain) ? 2'd3 : 2'd1;
        posted_q <= 1'b1;
        chain_q  <= chain;
        if (!more_i) begin
          region_q <= region_i;
          state_q  <= (message || chain || type_i == 8'(dimmnet1_pkg::TypeIndirect)) ? Look : Pass;
        end else if (blocks) begin
          state_q <= Go;
        end else begin
          pointer_q <= {region_q, 16'd0, system_q};
          reason_q  <= 4'(dimmnet1_pkg::ReasonRange);
          state_q   <= (system_q[2:0] != '0) ? Go : Next;
        end
      end
      Next: state_q <= Look;
      Look: if (tlb_req_ready_i) state_q <= Wait;
      Wait: begin
        word_q <= tlb_rsp_word_i;
        sent_q <= '0;
        got_q  <= '0;
        if (tlb_rsp_valid_i) begin
          reason_q <= tlb_rsp_reason_i;
          state_q  <= tlb_rsp_miss_i ? Pass : (tlb_rsp_reason_i != '0) ? Go : Read;
        end
      end
      Read: begin
        if (reads && mat_ready_i) sent_q <= sent_q + 2'd1;
        if (mat_rvalid_i) begin
          got_q <= got_q + 2'd1;
          case (got_q)
            2'd0: pointer_q <= mat_rdata_i;
            2'd1: {limit_q, free_q} <= mat_rdata_i;
            default: system_q <= mat_rdata_i[31:0];
          endcase
        end
        if (ends) state_q <= words_q[1] ? Judge : Go;
      end
      Judge: begin
        state_q  <= Go;
        posted_q <= posted;
        over_q   <= overflows;
        reason_q <= (!posted && overflows) ? 4'(dimmnet1_pkg::ReasonOverflow) : '0;
        write_q  <= posted || !full_q;
        if (chain_q) begin
          posted_q <= 1'b1;
          reason_q <= !is_write ? 4'(dimmnet1_pkg::ReasonType) : !blocks ? 4'(dimmnet1_pkg::ReasonRange) : '0;
          write_q  <= 1'b0;
        end
      end
      Go: begin
        state_q <= Idle;
        if (chain_q) begin
          pointer_q[31:0] <= pointer_q[31:0] + limit_q;
          free_q[dimmnet1_pkg::ChainShapeCountLsb+:8] <= free_q[dimmnet1_pkg::ChainShapeCountLsb+:8] - 8'd1;
        end
      end
      default: state_q <= Idle;  // Pass
    endcase
    if (rst_i) begin
      state_q <= Idle;
      write_q <= 1'b0;
    end
  end

  assign tlb_req_valid_o = state_q == Look;
  assign tlb_req_bytes_o = {8'd0, words_q, 3'd0};
  assign pass_o = state_q == Pass;
  assign go_valid_o = state_q == Go;
  assign go_what_o = (reason_q != '0) ? 3'(dimmnet1_pkg::GoNack) :
                     chain_q ? 3'(dimmnet1_pkg::GoPart) : 3'(dimmnet1_pkg::GoContinue);
  assign go_reason_o = reason_q;
  assign go_bytes_o = free_q[dimmnet1_pkg::ChainShapeLengthLsb+:16];
  assign place_valid_o = state_q == Go || state_q == Next;
  assign place_o = posted_q ? pointer_q : {system_q, start_q};

  // What is written: POINTER, or FREE in the lower half of the second word.
  assign mat_valid_o = reads || write_q;
  assign mat_write_o = write_q;
  assign mat_addr_o = word_q + 11'(write_q ? {1'b0, !posted_q} : sent_q);
  assign mat_wdata_o = {system_q, posted_q ? free_q : over_q ? '1 : end_q};
  assign mat_strb_o = {{4{posted_q}}, 4'hF};

  assign busy_o = state_q != Idle || write_q;
endmodule

// DIMMnet-1 matcher: indirect writes and message exchange without the processor, on the firmware's cells in LLCM.
//
// Packet     `valid_i`: the receiver offers the packet that waits (mat_valid_o of dimmnet1_rx), of `type_i` and
//            `bytes_i`. It holds them until one of these ends the offer, for one cycle:
//              `pass_o`      the packet is the processor's: another type, or its cell's region is not in RVATLB.
//              `go_valid_o`  CONTINUE with `place_o` as header word 2, or NACK with `go_reason_o`.
// Cell       named by header word 2; the receiver gives the TLBs the rest of the request. RIGHTS: it is not in LLCM.
//            INDIRECT: one word, the place for the data. MESSAGE: three words (docs/machines/dimmnet1-firmware.md).
//            A posted area gets one packet, and POINTER is the system buffer's again; other packets go to the
//            system buffer, FREE moves on, and OVERFLOW is refused.
// Order      POINTER is read before FREE. What a packet changes is written before the next one's cell is read. The
//            processor must not serve packets of a cell that is matched: its region stays in RVATLB, or out of it.
// Latency    from `valid_i` to `go_valid_o`, with a TLB of 2 cycles and an idle LLCM: INDIRECT 7 cycles, MESSAGE 12.
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
    output logic pass_o,
    output logic go_valid_o,
    output logic [2:0] go_what_o,
    output logic [3:0] go_reason_o,
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
    Look,   // the cell's address is asked for
    Wait,   // until it is there
    Read,   // the cell's words
    Judge,  // where the message goes
    Go,
    Pass
  } state_e;
  state_e state_q;
  logic [13:3] word_q;  // the cell's first
  logic [1:0] words_q, sent_q, got_q;  // its words: all, asked for, there
  logic [63:0] pointer_q;
  logic [31:0] free_q, limit_q, system_q;
  logic posted_q, over_q, write_q;
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
  logic message, reads, ends;
  assign message = type_i == 8'(dimmnet1_pkg::TypeMessage);
  assign reads = state_q == Read && sent_q != words_q;
  assign ends = mat_rvalid_i && got_q + 2'd1 == words_q;

  always_ff @(posedge clk_i) begin
    if (mat_ready_i) write_q <= 1'b0;
    case (state_q)
      Idle:
      if (valid_i && !write_q) begin
        words_q  <= message ? 2'd3 : 2'd1;
        posted_q <= 1'b1;
        state_q  <= (message || type_i == 8'(dimmnet1_pkg::TypeIndirect)) ? Look : Pass;
      end
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
      end
      default: state_q <= Idle;  // Go, Pass
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
  assign go_what_o = (reason_q != '0) ? 3'(dimmnet1_pkg::GoNack) : 3'(dimmnet1_pkg::GoContinue);
  assign go_reason_o = reason_q;
  assign place_o = posted_q ? pointer_q : {system_q, start_q};

  // What is written: POINTER, or FREE in the lower half of the second word.
  assign mat_valid_o = reads || write_q;
  assign mat_write_o = write_q;
  assign mat_addr_o = word_q + 11'(write_q ? {1'b0, !posted_q} : sent_q);
  assign mat_wdata_o = {system_q, posted_q ? free_q : over_q ? '1 : end_q};
  assign mat_strb_o = {{4{posted_q}}, 4'hF};

  assign busy_o = state_q != Idle || write_q;
endmodule

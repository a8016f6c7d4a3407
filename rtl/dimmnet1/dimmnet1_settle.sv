// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 receiver, last part: what becomes of each packet, in the order of the packets.
//
// Entry      `put_*`, one for each packet. `put_write_i`: its data are on their way, and `done_*` tells how that ends.
//            Else `put_reason_i` is how it ended. Without `put_count_i` they are a part of a packet whose entry
//            follows: the first part that failed is how the packet ends. `put_again_i`: a duplicate, which is counted
//            with its reason and answered with ACK. `put_ask_i`: an answer leaves. `put_tell_i`: the slots are told
//            instead, `put_nack_i`: as of a NACK. `put_count_i`: it has an outcome. `put_number_i`: it has the number
//            SEQ that was expected of SRC; if it ends well, the number behind is expected next. `put_quiet_i`: a
//            transfer of RX_GO DMA.
// Answer     three words on `out_*`; then, or without one at once, all the rest in one cycle.
// Latency    1 cycle from entry to the answer's first word, 1 word per cycle, no bubble.
// Full       four entries, then `put_ready_o` is low.
// settled_o  no entry is left.
// Reset      drops everything.
// busy_o     low when no entry and no pulse is left.
// Source     paper, section 2.2 (hardware ACK when the write is complete); formats are ours.
module dimmnet1_settle (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,
    output logic settled_o,

    input logic [15:0] node_i,
    input logic put_valid_i,
    output logic put_ready_o,
    input logic put_write_i,
    input logic [3:0] put_reason_i,
    input logic put_again_i,
    input logic put_ask_i,
    input logic put_tell_i,
    input logic put_nack_i,
    input logic put_count_i,
    input logic put_number_i,
    input logic put_quiet_i,
    input logic [15:0] put_src_i,
    input logic [15:0] put_pgid_i,
    input logic [15:0] put_tag_i,
    input logic [31:0] put_seq_i,

    input logic done_valid_i,
    output logic done_ready_o,
    input logic [2:0] done_err_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic [63:0] out_data_o,
    output logic out_last_o,

    output logic ans_valid_o,
    output logic [15:0] ans_tag_o,
    output logic [15:0] ans_src_o,
    output logic ans_nack_o,
    output logic [3:0] ans_reason_o,
    output logic [31:0] ans_seq_o,

    output logic next_valid_o,
    output logic [5:0] next_src_o,
    output logic [31:0] next_seq_o,

    output logic outcome_valid_o,
    output logic [3:0] outcome_reason_o,
    output logic quiet_done_o,
    output logic [3:0] quiet_reason_o
);
  logic valid, ready, writes, again, ask, tell, nack, counts, number, quiet, pop;
  logic [3:0] known, reason;
  logic [15:0] src, pgid, tag;
  logic [31:0] seq;
  logic [ 2:0] level;

  fifo #(
      .W(92),
      .Depth(4)
  ) u_entries (
      .clk_i,
      .rst_i,
      .in_valid_i(put_valid_i),
      .in_ready_o(put_ready_o),
      .in_data_i({
        put_write_i,
        put_reason_i,
        put_again_i,
        put_ask_i,
        put_tell_i,
        put_nack_i,
        put_count_i,
        put_number_i,
        put_quiet_i,
        put_src_i,
        put_pgid_i,
        put_tag_i,
        put_seq_i
      }),
      .out_valid_o(valid),
      .out_ready_i(pop),
      .out_data_o({writes, known, again, ask, tell, nack, counts, number, quiet, src, pgid, tag, seq}),
      .level_o(level)
  );

  assign ready = valid && (!writes || done_valid_i);
  logic [3:0] own, failed_q;  // failed: of the packet's parts before
  assign own = !writes ? known :
               done_err_i[0] ? 4'(dimmnet1_pkg::ReasonBus) :
               (done_err_i != '0) ? 4'(dimmnet1_pkg::ReasonLength) : 4'(dimmnet1_pkg::ReasonNone);
  assign reason = (failed_q != '0) ? failed_q : own;

  always_ff @(posedge clk_i) begin
    if (rst_i) failed_q <= '0;
    else if (pop) failed_q <= (writes && !counts) ? reason : '0;
  end

  // ------------------------------------------------------------------------------------------------------------ answer
  logic [1:0] word_q;
  logic good;
  assign good = reason == '0 || again;
  assign out_valid_o = ready && ask;
  assign out_last_o = word_q == 2'd2;
  always_comb begin
    case (word_q)
      2'd0: begin
        out_data_o = '0;
        out_data_o[dimmnet1_pkg::HdrW0TypeLsb+:8] = good ? 8'(dimmnet1_pkg::TypeAck) : 8'(dimmnet1_pkg::TypeNack);
        out_data_o[dimmnet1_pkg::HdrW0OtfLsb] = 1'b1;
        out_data_o[dimmnet1_pkg::HdrW0SrcLsb+:16] = node_i;
        out_data_o[dimmnet1_pkg::HdrW0DstLsb+:16] = src;
      end
      2'd1: begin
        out_data_o = '0;
        out_data_o[dimmnet1_pkg::HdrW1PgidLsb+:16] = pgid;
        out_data_o[dimmnet1_pkg::HdrW1TagLsb+:16] = tag;
      end
      default: begin
        out_data_o = '0;
        out_data_o[dimmnet1_pkg::AnswerReasonLsb+:4] = good ? '0 : reason;
        out_data_o[dimmnet1_pkg::AnswerSeqLsb+:32] = seq;
      end
    endcase
  end

  assign pop = ready && (!ask || (out_last_o && out_ready_i));
  assign done_ready_o = pop && writes;

  always_ff @(posedge clk_i) begin
    if (rst_i) word_q <= '0;
    else if (out_valid_o && out_ready_i) word_q <= out_last_o ? '0 : word_q + 2'd1;
    outcome_valid_o  <= pop && counts && !rst_i;
    outcome_reason_o <= reason;
  end

  // A packet that the slots are told of is not answered, so nothing here waits for the queue of answers.
  assign ans_valid_o = ready && tell;
  assign ans_tag_o = tag;
  assign ans_src_o = src;
  assign ans_nack_o = nack || reason != '0;
  assign ans_reason_o = reason;
  assign ans_seq_o = seq;

  assign next_valid_o = pop && number && reason == '0;
  assign next_src_o = src[5:0];
  assign next_seq_o = seq + 32'd1;
  assign quiet_done_o = pop && quiet;
  assign quiet_reason_o = reason;
  assign settled_o = !valid;
  assign busy_o = level != '0 || outcome_valid_o;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i && valid) assert (!(ask && tell));
  end
`endif
endmodule

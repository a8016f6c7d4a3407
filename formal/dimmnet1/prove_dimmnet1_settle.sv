// SPDX-License-Identifier: MIT OR Apache-2.0
// `dimmnet1_settle` acknowledges a packet's write only when its data are visible, and ends each packet once, in order.
//
// - A packet that writes is answered, told of, and counted only after its own report from memory. An error makes ACK a
//   NACK: BUS, or LENGTH if the number of words was wrong. A duplicate is answered with ACK.
// - An answer has three words, for the packet's source and with its tag, and leaves only if it was asked for.
// - The number behind a packet's is expected next only if the packet ended well.
//
// Assumed: packets and reports hold until they are taken; no packet is both answered and told of; a node's number
// stays.
module prove_dimmnet1_settle (
    input logic clk_i,
    input logic rst_i,
    input logic put_valid_i,
    input logic [91:0] put_i,
    input logic done_valid_i,
    input logic [2:0] done_err_i,
    input logic out_ready_i
);
  typedef struct packed {
    logic write;
    logic [3:0] reason;
    logic again;
    logic ask;
    logic tell;
    logic nack;
    logic count;
    logic number;
    logic quiet;
    logic [15:0] src;
    logic [15:0] pgid;
    logic [15:0] tag;
    logic [31:0] seq;
  } entry_t;
  entry_t put, first;
  assign put = put_i;

  logic [15:0] node_q;
  always_ff @(posedge clk_i) node_q <= node_q;

  logic busy, settled, put_ready, done_ready, out_valid, out_last, ans_valid, ans_nack, next_valid, outcome_valid;
  logic quiet_done;
  logic [63:0] out_data;
  logic [15:0] ans_tag, ans_src;
  logic [3:0] ans_reason, outcome_reason, quiet_reason;
  logic [31:0] ans_seq, next_seq;
  logic [5:0] next_src;

  dimmnet1_settle dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .settled_o(settled),
      .node_i(node_q),
      .put_valid_i,
      .put_ready_o(put_ready),
      .put_write_i(put.write),
      .put_reason_i(put.reason),
      .put_again_i(put.again),
      .put_ask_i(put.ask),
      .put_tell_i(put.tell),
      .put_nack_i(put.nack),
      .put_count_i(put.count),
      .put_number_i(put.number),
      .put_quiet_i(put.quiet),
      .put_src_i(put.src),
      .put_pgid_i(put.pgid),
      .put_tag_i(put.tag),
      .put_seq_i(put.seq),
      .done_valid_i,
      .done_ready_o(done_ready),
      .done_err_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data),
      .out_last_o(out_last),
      .ans_valid_o(ans_valid),
      .ans_tag_o(ans_tag),
      .ans_src_o(ans_src),
      .ans_nack_o(ans_nack),
      .ans_reason_o(ans_reason),
      .ans_seq_o(ans_seq),
      .next_valid_o(next_valid),
      .next_src_o(next_src),
      .next_seq_o(next_seq),
      .outcome_valid_o(outcome_valid),
      .outcome_reason_o(outcome_reason),
      .quiet_done_o(quiet_done),
      .quiet_reason_o(quiet_reason)
  );

  power_up u_power_up (.*);
  stream_rules #(
      .W(92),
      .Assume(1'b1)
  ) u_put (
      .clk_i,
      .rst_i,
      .valid_i(put_valid_i),
      .ready_i(put_ready),
      .data_i (put_i)
  );
  stream_rules #(
      .W(3),
      .Assume(1'b1)
  ) u_done (
      .clk_i,
      .rst_i,
      .valid_i(done_valid_i),
      .ready_i(done_ready),
      .data_i (done_err_i)
  );
  stream_rules #(
      .W(65)
  ) u_out (
      .clk_i,
      .rst_i,
      .valid_i(out_valid),
      .ready_i(out_ready_i),
      .data_i ({out_last, out_data})
  );

  // The packets that have not ended: the first one ends when its answer has left, or at once.
  logic visible, ends, good;
  logic [2:0] count;
  logic [1:0] word_q;
  logic [3:0] reason, own, failed_q;  // failed: of the parts before
  assign visible = count != '0 && (!first.write || done_valid_i);
  assign ends = visible && (!first.ask || (word_q == 2'd2 && out_valid && out_ready_i));
  assign own = !first.write ? first.reason :
               done_err_i[0] ? 4'(dimmnet1_pkg::ReasonBus) : done_err_i != '0 ? 4'(dimmnet1_pkg::ReasonLength) : '0;
  assign reason = failed_q != '0 ? failed_q : own;
  assign good = reason == '0 || first.again;
  queue #(
      .W(92),
      .Depth(4)
  ) u_record (
      .clk_i,
      .rst_i,
      .push_i  (put_valid_i && put_ready),
      .data_i  (put_i),
      .pop_i   (ends),
      .count_o (count),
      .oldest_o(first)
  );

  logic [3:0] ended_reason_q;
  logic ended_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) failed_q <= '0;
    else if (ends) failed_q <= (first.write && !first.count) ? reason : '0;
    if (rst_i) word_q <= '0;
    else if (out_valid && out_ready_i) word_q <= (word_q == 2'd2) ? '0 : word_q + 2'd1;
    ended_q <= ends && first.count && !rst_i;
    ended_reason_q <= reason;
  end

  logic [63:0] expected;
  always_comb begin
    expected = '0;
    case (word_q)
      2'd0: begin
        expected[7:0] = good ? 8'(dimmnet1_pkg::TypeAck) : 8'(dimmnet1_pkg::TypeNack);
        expected[dimmnet1_pkg::HdrW0OtfLsb] = 1'b1;
        expected[31:16] = node_q;
        expected[47:32] = first.src;
      end
      2'd1: expected[31:0] = {first.tag, first.pgid};
      default: expected = {first.seq, 28'b0, good ? 4'd0 : reason};
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      answer_when_visible : assert (out_valid == (visible && first.ask));
      answer_as_it_ended : assert (!out_valid || (out_data == expected && out_last == (word_q == 2'd2)));
      told_when_visible : assert (ans_valid == (visible && first.tell));
      told_as_it_ended :
      assert (!ans_valid || {ans_tag, ans_src, ans_nack, ans_reason, ans_seq} ==
              {first.tag, first.src, first.nack || reason != '0, reason, first.seq});
      next_if_it_ended_well :
      assert (next_valid == (ends && first.number && reason == '0) &&
              (!next_valid || {next_src, next_seq} == {first.src[5:0], first.seq + 32'd1}));
      takes_its_report : assert ((done_valid_i && done_ready) == (ends && first.write));
      counts_once : assert (outcome_valid == ended_q && (!ended_q || outcome_reason == ended_reason_q));
      quiet_once : assert (quiet_done == (ends && first.quiet) && (!quiet_done || quiet_reason == reason));
      settled_tells : assert (settled == (count == '0));
      busy_tells : assert (busy == (count != '0 || ended_q));
      one_way : assume (!put_valid_i || !(put.ask && put.tell));
      // Invariants for induction.
      counted : assert (dut.u_entries.level_q == count && dut.word_q == word_q && word_q <= 2'd2);
      failed_parts : assert (dut.failed_q == failed_q);
      inside_a_packet : assert (word_q == '0 || (visible && first.ask));
      // The claims are not vacuous.
      acknowledged : cover (out_valid && out_last && first.write && good && count == 3'd2);
      refused : cover (out_valid && out_last && first.write && !good);
    end
  end
  for (genvar n = 0; n < 4; n++) begin : gen_place
    entry_t place;
    assign place = u_record.mem_q[u_record.rd_q[1:0]+2'(n)];
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        stored : assert (n >= int'(count) || dut.u_entries.mem_q[n] == place);
        either : assert (n >= int'(count) || !(place.ask && place.tell));
      end
    end
  end
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_queue_ram` passes the words of a queue's messages on in order, each once, and a message only when all of it
// is in.
//
// - No word is joined to a message of another number.
// - A dropped word is reported, and no other word is dropped. A reset ends the report.
// - A full queue has a message that can leave. No address is written twice.
// - A word is offered 2 cycles after a message is in, unless its queue is held or waits for a judgement.
// - A message that comes back is the next one of its queue, and whole. No other one comes before the judgement.
//
// One queue, any, is followed. The only assumption on the words is that they are of one queue, which is not full: their
// indices in a message are any. No queue fills within the steps of the proof.
module prove_ap1000p_queue_ram #(
    parameter int Which = 0,  // the queue that is followed
    parameter int Words = 32  // of each of the three
) (
    input logic clk_i,
    input logic rst_i,
    input logic mark_i,
    input logic put_valid_i,
    input logic [2:0] put_queue_i,
    input logic [2:0] put_number_i,
    input logic [3:0] put_index_i,
    input logic put_end_i,
    input logic [31:0] put_data_i,
    input logic put_doubt_i,
    input logic [2:0] forget_i,
    input logic [2:0] hold_i,
    input logic settle_i,  // of the followed queue; the others' messages do not come back
    input logic back_i,
    input logic out_ready_i
);
  logic busy, broken, out_valid, out_end;
  logic [2:0] full, more, out_queue, settle, back;
  logic judge_q, settles, backs;  // the queue's last message has been taken, and is not judged
  assign settles = judge_q && settle_i;
  assign backs   = judge_q && back_i && !settle_i;
  always_comb begin
    settle = '1;
    settle[Which] = settles;
    back = '0;
    back[Which] = backs;
  end
  logic [31:0] out_data;
  ap1000p_queue_ram #(
      .First (Words),
      .Second(Words),
      .Third (Words),
      .AgeCap(4)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .put_valid_i,
      .put_queue_i,
      .put_number_i,
      .put_index_i,
      .put_end_i,
      .put_data_i,
      .put_doubt_i,
      .forget_i,
      .hold_i,
      .settle_i(settle),
      .back_i(back),
      .broken_o(broken),
      .full_o(full),
      .more_o(more),
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_queue_o(out_queue),
      .out_end_o(out_end),
      .out_data_o(out_data)
  );
  power_up u_power_up (.*);
  stream_rules #(
      .W(36)
  ) u_out (
      .clk_i,
      .rst_i,
      .valid_i(out_valid),
      .ready_i(out_ready_i),
      .data_i ({out_queue, out_end, out_data})
  );
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_queue : assume (!put_valid_i || (put_queue_i != '0 && (put_queue_i & (put_queue_i - 3'd1)) == '0));
      has_room : assume (!put_valid_i || (put_queue_i & full) == '0);
      not_forgotten : assume (!put_valid_i || (put_queue_i & forget_i) == '0);
    end
  end

  // ------------------------------------------------------------------------------------ the queue, by words in and out
  // A word's number and index say whether it continues the message; `open_count_q` words of the open message are in.
  logic put, pop, fits, whole, forgets;
  logic [2:0] number_q;
  logic [4:0] open_count_q, open_count;
  logic [7:0] inside_q;  // words of whole messages
  assign put = put_valid_i && put_queue_i[Which];
  assign pop = out_valid && out_ready_i && out_queue[Which];
  assign fits = put_index_i == '0 || (5'(put_index_i) == open_count_q && put_number_i == number_q && !put_doubt_i);
  assign forgets = forget_i[Which] && !put;
  assign open_count = 5'(put_index_i) + 5'd1;
  assign whole = put && fits && put_end_i;

  // The followed word, and whether a word was dropped that must be reported.
  logic follow_q, sure_q, dropped_q;  // sure: its message is in
  logic [7:0] ahead_q;  // words of whole messages before it, or, unless sure, of its own message
  logic end_q;
  logic [31:0] word_q;
  logic enters, forgotten;
  assign enters = put && fits && mark_i && !follow_q;
  assign forgotten = follow_q && !sure_q && ((put && (!fits || put_index_i == '0)) || forgets);

  // Words taken of the message that is not judged, and those of them before the followed word, which is taken.
  logic popped_q;
  logic [7:0] taken_q, before_q, returned;
  assign returned = backs ? taken_q : '0;

  logic midway_q;  // the last word that left did not end its message
  logic [2:0] from_q;
  int idle_q;  // cycles with a message held and nothing offered
  logic reset_q;
  always_ff @(posedge clk_i) begin
    reset_q <= rst_i;
    if (put) open_count_q <= (!fits || put_end_i) ? '0 : open_count;
    else if (forgets) open_count_q <= '0;
    if (put) number_q <= put_number_i;
    inside_q <= inside_q + (whole ? 8'(open_count) : '0) + returned - 8'(pop);
    judge_q  <= (pop && out_end) || (judge_q && !settles && !backs);
    if (pop) taken_q <= midway_q ? taken_q + 8'd1 : 8'd1;
    if (settles || backs) popped_q <= 1'b0;
    dropped_q <= put ? !fits || (put_index_i == '0 && open_count_q != '0) : forgets && open_count_q != '0;
    if (enters || (forgotten && put && fits && mark_i)) begin
      follow_q <= 1'b1;
      {end_q, word_q} <= {put_end_i, put_data_i};
      sure_q <= put_end_i;
      ahead_q <= 8'(put_index_i) + (put_end_i ? inside_q + returned - 8'(pop) : '0);
      popped_q <= 1'b0;
    end else if (forgotten) begin
      follow_q <= 1'b0;
    end else if (follow_q && !sure_q && whole) begin
      sure_q  <= 1'b1;
      ahead_q <= ahead_q + inside_q + returned - 8'(pop);
    end else if (follow_q && sure_q && popped_q && (settles || backs)) begin
      follow_q <= backs;
      ahead_q  <= before_q;
    end else if (follow_q && sure_q && !popped_q && pop) begin
      ahead_q  <= ahead_q - 8'd1;
      popped_q <= ahead_q == '0;
      before_q <= midway_q ? taken_q : '0;
    end else if (follow_q && sure_q && !popped_q && backs) begin
      ahead_q <= ahead_q + taken_q;
    end
    if (out_valid && out_ready_i) {midway_q, from_q} <= {!out_end, out_queue};
    idle_q <= inside_q != '0 && !out_valid && !hold_i[Which] && !judge_q ? idle_q + 1 : 0;
    if (rst_i) begin
      open_count_q <= '0;
      inside_q <= '0;
      follow_q <= 1'b0;
      popped_q <= 1'b0;
      judge_q <= 1'b0;
      midway_q <= 1'b0;
      dropped_q <= 1'b0;
      idle_q <= 0;
    end
    if (!rst_i) begin
      nothing_invented : assert (!pop || inside_q != '0);
      order_and_content :
      assert (!(pop && follow_q && sure_q && !popped_q && ahead_q == '0) || {out_end, out_data} == {end_q, word_q});
      waits_for_judgement : assert (!pop || !judge_q);
      whole_messages : assert (!(out_valid && midway_q) || out_queue == from_q);
      one_of_three : assert (!out_valid || (out_queue != '0 && (out_queue & (out_queue - 3'd1)) == '0));
      reported_if_dropped : assert (!dropped_q || broken);
      reset_ends_reports : assert (!reset_q || !broken);
      full_can_leave : assert (!full[Which] || inside_q != '0 || judge_q);
      open_known : assert (dut.open_q[Which] == open_count_q);
      offers_soon : assert (idle_q <= 2);
      left : cover (pop && follow_q && sure_q && ahead_q == 8'd1);
      again : cover (pop && follow_q && sure_q && !popped_q && $past(backs, 3));
      drops : cover (forgotten);
    end
  end
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// `emx_output` sends each packet that it takes once, whole, and in the order in which it took them.
//
// - Word 1 follows directly behind word 0. A packet begins only where there is room, and then one begins if there is
//   any.
// - An answer that was promised a place finds it, and goes before a thread's packet.
// - It takes a thread's packet while it holds fewer than OutputPackets.
//
// Assumed: a thread holds its offer. An answer comes in the cycle behind a promise, and never in two cycles at once:
// `emx_input`'s proof claims it.
module prove_emx_output #(
    parameter int OutputPackets = 2,
    parameter bit ReadBypass = 1'b1
) (
    input logic clk_i,
    input logic rst_i,
    input logic [1:0] in_valid_i,
    input logic [1:0][77:0] in_packet_i,
    input logic out_room_i,
    input logic mark_i
);
  localparam int Held = OutputPackets + int'(ReadBypass);
  localparam int Most = OutputPackets == 0 ? 1 : Held;
  localparam int CountW = $clog2(Most + 2);

  logic busy, out_valid, out_last, follow;
  logic [ 1:0] ready;
  logic [38:0] out_data;
  logic [CountW-1:0] count, ahead;
  logic [77:0] word;

  emx_output #(
      .OutputPackets(OutputPackets),
      .ReadBypass(ReadBypass)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .in_valid_i,
      .in_ready_o(ready),
      .in_packet_i,
      .out_valid_o(out_valid),
      .out_data_o(out_data),
      .out_last_o(out_last),
      .out_room_i
  );
  power_up u_power_up (.*);
  stream_rules #(
      .W(78),
      .Assume(1'b1)
  ) u_thread (
      .clk_i,
      .rst_i,
      .valid_i(in_valid_i[0]),
      .ready_i(ready[0]),
      .data_i (in_packet_i[0])
  );

  logic [1:0] take;
  logic promised_q, answer_q, first_q;
  logic [38:0] word0_q;
  assign take = in_valid_i & ready;
  always_ff @(posedge clk_i) begin
    promised_q <= ready[1] && !rst_i;
    answer_q <= in_valid_i[1];
    first_q <= out_valid && !out_last && !rst_i;
    if (out_valid && !out_last) word0_q <= out_data;
    answers_are_promised : assume (!in_valid_i[1] || (ReadBypass && promised_q && !answer_q));
  end

  stream_track #(
      .W(78),
      .Capacity(Most),
      .Fills(OutputPackets != 0)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(take != '0),
      .in_data_i(take[1] ? in_packet_i[1] : in_packet_i[0]),
      .pop_i(out_valid && out_last),
      .out_data_i({word0_q, out_data}),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(word)
  );

  // Packets that wait, as the buffer's model stores them.
  logic [CountW-1:0] stored;
  logic [77:0] place;
  if (OutputPackets == 0) begin : gen_none
    assign stored = '0;
    assign place  = '0;
  end else begin : gen_some
    assign stored = CountW'(dut.gen_buffer.u_fifo.level_q);
    assign place  = 78'(dut.gen_buffer.u_fifo.mem_q >> (78 * (ahead - CountW'(first_q))));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_a_cycle : assert (take != '1);
      answers_first : assert (!in_valid_i[1] || take == 2'b10);
      words_together : assert (first_q == (out_valid && out_last));
      begins_with_room : assert (!(out_valid && !out_last) || out_room_i);
      none_waits : assert (!out_room_i || first_q || (stored == '0 && !take[0]) || out_valid);
      takes_unless_full : assert (OutputPackets == 0 || in_valid_i[1] || int'(stored) >= OutputPackets || ready[0]);
      busy_tells : assert (busy || count == '0);
      // Invariants for induction.
      counted : assert (count == stored + CountW'(first_q));
      under_way : assert (dut.second_q == first_q);
      on_its_way : assert (!(first_q && follow && ahead == '0) || {word0_q, dut.word1_q} == word);
      waits : assert (!follow || (first_q && ahead == '0) || place == word);
      room_for_answers : assert (!promised_q || answer_q || int'(stored) < Held);
      // The claims are not vacuous.
      both : cover (in_valid_i == '1);
      passes : cover (take[0] && out_valid && !out_last);
    end
  end
endmodule

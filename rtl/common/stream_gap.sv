// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds a stream for a number of idle cycles after each packet.
//
// Handshake  valid/ready/data/last streams; `in_ready_o` is a flip-flop, `out_valid_o` the AND of two.
// Latency    1 cycle. `gap_i` is read in the cycle in which a word with `last` leaves. `out_valid_o` is low for at
//            least that many cycles before the next word is offered. With 0, 1 word per cycle and no bubble.
// Full       holds two words, then `in_ready_o` is low.
// Reset      empties it and ends a gap, in mid-flight too.
// busy_o     low when nothing is inside and no gap is counted.
// Source     Cenju-3's sender left time between packets (a calibrated parameter); the block is ours.
module stream_gap #(
    parameter int W = 16,  // bits of a word, >= 1
    parameter int GapW = 8  // bits of the gap, >= 1
) (
    input logic clk_i,
    input logic rst_i,
    input logic [GapW-1:0] gap_i,  // idle cycles
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [W-1:0] in_data_i,
    input logic in_last_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [W-1:0] out_data_o,
    output logic out_last_o,
    output logic busy_o
);
  if (W < 1) begin : gen_bad_w
    stream_gap_W_must_be_at_least_1 u_bad ();
  end
  if (GapW < 1) begin : gen_bad_gap
    stream_gap_GapW_must_be_at_least_1 u_bad ();
  end

  logic valid, open_q;
  logic [GapW-1:0] left_q, left_d;

  skid #(
      .W(W + 1)
  ) u_skid (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o,
      .in_data_i  ({in_last_i, in_data_i}),
      .out_valid_o(valid),
      .out_ready_i(out_ready_i && open_q),
      .out_data_o ({out_last_o, out_data_o})
  );

  assign out_valid_o = valid && open_q;
  assign busy_o = valid || !open_q;

  always_comb begin
    left_d = left_q;
    if (left_q != '0) left_d = left_q - GapW'(1);
    if (out_valid_o && out_ready_i && out_last_o) left_d = gap_i;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      left_q <= '0;
      open_q <= 1'b1;
    end else begin
      left_q <= left_d;
      open_q <= left_d == '0;
    end
  end
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// Width converter, narrow to wide: packs Ratio units into a word, the first unit lowest.
//
// Handshake  valid/ready/data/last streams; registered `in_ready_o` and `out_valid_o`, outputs from memory. A word ends
//            with its Ratio-th unit, with `in_last_i`, or with `in_flush_i` (the packet goes on in a new word).
// out_keep_o units in the word, minus 1; units above it are zero.
// Latency    1 cycle after the unit that ends the word. 1 unit per cycle, no bubble.
// Full       holds two words and a partial one; `in_ready_o` is low while two whole words wait.
// Reset      drops its contents, in mid-flight too.
// Source     common practice.
module stream_up #(
    parameter int UnitW = 16,  // bits of a narrow unit, >= 1
    parameter int Ratio = 2,  // units in a wide word, >= 1
    localparam int KeepW = (Ratio > 1) ? $clog2(Ratio) : 1
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [UnitW-1:0] in_data_i,
    input logic in_flush_i,
    input logic in_last_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [UnitW*Ratio-1:0] out_data_o,
    output logic [KeepW-1:0] out_keep_o,
    output logic out_last_o
);
  if (UnitW < 1) begin : gen_bad_unit
    stream_up_UnitW_must_be_at_least_1 u_bad ();
  end
  if (Ratio < 1) begin : gen_bad_ratio
    stream_up_Ratio_must_be_at_least_1 u_bad ();
  end

  logic [UnitW*Ratio-1:0] part_q, word;
  logic [KeepW-1:0] unit_q;  // units in part_q
  logic take, done;
  logic [1:0] unused_level;

  always_comb begin
    word = part_q;
    word[unit_q*UnitW+:UnitW] = in_data_i;
  end
  assign done = in_last_i || in_flush_i || unit_q == KeepW'(Ratio - 1);
  assign take = in_valid_i && in_ready_o;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      part_q <= '0;
      unit_q <= '0;
    end else if (take) begin
      part_q <= done ? '0 : word;
      unit_q <= done ? '0 : unit_q + KeepW'(1);
    end
  end

  fifo #(
      .W(UnitW * Ratio + KeepW + 1),
      .Depth(2)
  ) u_fifo (
      .clk_i,
      .rst_i,
      .in_valid_i(in_valid_i && done),
      .in_ready_o,
      .in_data_i({in_last_i, unit_q, word}),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out_last_o, out_keep_o, out_data_o}),
      .level_o(unused_level)
  );
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// Width converter, wide to narrow: sends a word's units one by one, the lowest first.
//
// Handshake  valid/ready/data/last streams; every output is a flip-flop.
// in_keep_i  units in this word, minus 1 (any word may be partial, not only the last one).
// Latency    2 cycles to a word's first unit. 1 unit per cycle, no bubble between words or packets.
// Full       two words wait while a third is sent; then `in_ready_o` is low.
// Reset      drops its contents, in mid-flight too.
// Source     common practice.
module stream_down #(
    parameter int UnitW = 16,  // bits of a narrow unit, >= 1
    parameter int Ratio = 2,  // units in a wide word, >= 1
    localparam int KeepW = (Ratio > 1) ? $clog2(Ratio) : 1
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [UnitW*Ratio-1:0] in_data_i,
    input logic [KeepW-1:0] in_keep_i,
    input logic in_last_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [UnitW-1:0] out_data_o,
    output logic out_last_o
);
  if (UnitW < 1) begin : gen_bad_unit
    stream_down_UnitW_must_be_at_least_1 u_bad ();
  end
  if (Ratio < 1) begin : gen_bad_ratio
    stream_down_Ratio_must_be_at_least_1 u_bad ();
  end

  logic next_valid, next_last, load, step;
  logic [UnitW*Ratio-1:0] next_word, word_q;
  logic [KeepW-1:0] next_keep, left_q;  // units after the present one
  logic valid_q, last_q, end_q;  // last_q: the word ends its packet; end_q: this unit does
  logic [1:0] unused_level;

  fifo #(
      .W(UnitW * Ratio + KeepW + 1),
      .Depth(2)
  ) u_fifo (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o,
      .in_data_i({in_last_i, in_keep_i, in_data_i}),
      .out_valid_o(next_valid),
      .out_ready_i(load),
      .out_data_o({next_last, next_keep, next_word}),
      .level_o(unused_level)
  );

  assign step = valid_q && out_ready_i && left_q != '0;
  assign load = !valid_q || (out_ready_i && left_q == '0);

  always_ff @(posedge clk_i) begin
    if (load) begin
      word_q <= next_word;
      left_q <= next_keep;
      last_q <= next_last;
      end_q  <= next_last && next_keep == '0;
    end else if (step) begin
      word_q <= word_q >> UnitW;
      left_q <= left_q - KeepW'(1);
      end_q  <= last_q && left_q == KeepW'(1);
    end
    if (rst_i) valid_q <= 1'b0;
    else if (load) valid_q <= next_valid;
  end

  assign out_valid_o = valid_q;
  assign out_data_o  = word_q[UnitW-1:0];
  assign out_last_o  = end_q;
endmodule

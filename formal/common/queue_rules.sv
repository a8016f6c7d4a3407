// SPDX-License-Identifier: MIT OR Apache-2.0
// The claims and assumptions of every queue's proof: a reset first, a source and a sink that keep the stream rule (the
// source's is assumed), order and content of the words.
module queue_rules #(
    parameter int W = 4,  // bits of a word
    parameter int Capacity = 4,  // words that the queue holds at most
    localparam int CountW = $clog2(Capacity + 2)
) (
    input logic clk_i,
    input logic rst_i,
    input logic mark_i,
    input logic in_valid_i,
    input logic in_ready_i,
    input logic [W-1:0] in_data_i,
    input logic out_valid_i,
    input logic out_ready_i,
    input logic [W-1:0] out_data_i,
    output logic [CountW-1:0] inside_o,  // for invariants, as in stream_track
    output logic follow_o,
    output logic [CountW-1:0] ahead_o,
    output logic [W-1:0] word_o
);
  power_up u_power_up (.*);
  stream_rules #(
      .W(W),
      .Assume(1'b1)
  ) u_source (
      .clk_i,
      .rst_i,
      .valid_i(in_valid_i),
      .ready_i(in_ready_i),
      .data_i (in_data_i)
  );
  stream_rules #(
      .W(W)
  ) u_sink (
      .clk_i,
      .rst_i,
      .valid_i(out_valid_i),
      .ready_i(out_ready_i),
      .data_i (out_data_i)
  );
  stream_track #(
      .W(W),
      .Capacity(Capacity)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(in_valid_i && in_ready_i),
      .in_data_i,
      .pop_i (out_valid_i && out_ready_i),
      .out_data_i,
      .inside_o,
      .follow_o,
      .ahead_o,
      .word_o
  );
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// `fifo` between a source that always has a word and a sink that begins to take them late.
module fifo_example (
    input logic clk_i,
    input logic rst_i,
    output logic in_valid_o,
    output logic in_ready_o,
    output logic [7:0] in_data_o,
    output logic out_valid_o,
    output logic out_ready_o,
    output logic [7:0] out_data_o,
    output logic [2:0] level_o
);
  logic [4:0] at_q;
  logic [7:0] word_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) at_q <= '0;
    else at_q <= at_q + 5'd1;
    if (rst_i) word_q <= 8'h10;
    else if (in_valid_o && in_ready_o) word_q <= word_q + 8'd1;
  end

  assign in_valid_o  = at_q >= 5'd1 && at_q < 5'd9;
  assign in_data_o   = word_q;
  assign out_ready_o = at_q >= 5'd5;

  fifo #(
      .W(8),
      .Depth(4)
  ) u_fifo (
      .clk_i,
      .rst_i,
      .in_valid_i (in_valid_o),
      .in_ready_o,
      .in_data_i  (in_data_o),
      .out_valid_o,
      .out_ready_i(out_ready_o),
      .out_data_o,
      .level_o
  );
endmodule

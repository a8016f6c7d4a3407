// SPDX-License-Identifier: MIT OR Apache-2.0
// `async_fifo` from one clock to another. The waves have equal clocks: what is seen is the synchronisers' delay.
module async_fifo_example (
    input logic in_clk_i,
    input logic out_clk_i,
    input logic rst_i,
    output logic in_valid_o,
    output logic in_ready_o,
    output logic [7:0] in_data_o,
    output logic out_valid_o,
    output logic out_ready_o,
    output logic [7:0] out_data_o
);
  logic [7:0] word_q;

  always_ff @(posedge in_clk_i) begin
    if (rst_i) word_q <= 8'h10;
    else if (in_valid_o && in_ready_o) word_q <= word_q + 8'd1;
  end

  assign in_valid_o  = word_q < 8'h16;
  assign in_data_o   = word_q;
  assign out_ready_o = 1'b1;

  async_fifo #(
      .W(8),
      .Depth(8)
  ) u_fifo (
      .in_clk_i,
      .in_rst_i   (rst_i),
      .in_valid_i (in_valid_o),
      .in_ready_o,
      .in_data_i  (in_data_o),
      .out_clk_i,
      .out_rst_i  (rst_i),
      .out_valid_o,
      .out_ready_i(out_ready_o),
      .out_data_o
  );
endmodule

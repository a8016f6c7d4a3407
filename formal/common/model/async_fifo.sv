// SPDX-License-Identifier: MIT OR Apache-2.0
// `async_fifo` as the proof of its source sees it: it takes words at any time; another proof covers its output.
module async_fifo #(
    parameter int W = 32,
    parameter int Depth = 16,
    parameter int SyncStages = 2
) (
    input logic in_clk_i,
    input logic in_rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [W-1:0] in_data_i,
    input logic out_clk_i,
    input logic out_rst_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [W-1:0] out_data_o
);
  logic ready, valid;  // driven by nothing: free at each step
  logic [W-1:0] data;
  assign in_ready_o  = ready;
  assign out_valid_o = valid;
  assign out_data_o  = data;

  // Its expectation of its source.
  stream_rules #(
      .W(W)
  ) u_source (
      .clk_i  (in_clk_i),
      .rst_i  (in_rst_i),
      .valid_i(in_valid_i),
      .ready_i(ready),
      .data_i (in_data_i)
  );
endmodule

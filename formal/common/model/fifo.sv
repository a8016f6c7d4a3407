// SPDX-License-Identifier: MIT OR Apache-2.0
// `fifo` as a proof of a block built on it sees it: the same words, flags and level, as its own proof shows, without
// pointers.
//
// The oldest word is first, which leaves a solver far fewer states to tell apart. With no word inside the output is
// any.
module fifo #(
    parameter int W = 32,
    parameter int Depth = 16,  // >= 1
    localparam int LevelW = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [W-1:0] in_data_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [W-1:0] out_data_o,
    output logic [LevelW-1:0] level_o
);
  logic [Depth-1:0][W-1:0] mem_q, kept;
  logic [LevelW-1:0] level_q, left;
  logic push, pop;
  logic [W-1:0] any;  // driven by nothing: free at each step

  assign push = in_valid_i && in_ready_o;
  assign pop  = out_valid_o && out_ready_i;
  assign kept = pop ? mem_q >> W : mem_q;
  assign left = level_q - LevelW'(pop);
  for (genvar n = 0; n < Depth; n++) begin : gen_place
    always_ff @(posedge clk_i) mem_q[n] <= (push && left == LevelW'(n)) ? in_data_i : kept[n];
  end
  always_ff @(posedge clk_i) level_q <= rst_i ? '0 : left + LevelW'(push);

  assign in_ready_o  = level_q != LevelW'(Depth);
  assign out_valid_o = level_q != '0;
  assign out_data_o  = out_valid_o ? mem_q[0] : any;
  assign level_o     = level_q;

  always_ff @(posedge clk_i)
    if (!rst_i) begin
      level_possible : assert (int'(level_q) <= Depth);
    end
`ifdef TSUNAGI_ASSERT
  // Its expectation of its source.
  stream_rules #(
      .W(W)
  ) u_source (
      .clk_i,
      .rst_i,
      .valid_i(in_valid_i),
      .ready_i(in_ready_o),
      .data_i (in_data_i)
  );
`endif
endmodule

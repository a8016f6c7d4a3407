// SPDX-License-Identifier: MIT OR Apache-2.0
// `cdc_sync` as a proof sees it: each bit that changed at the step before may still show its old value, by chance.
//
// Of two edges, one right after the other, the second may or may not see the first one's change. In time steps of
// `u_clocks` that covers simultaneous edges, too.
module cdc_sync #(
    parameter int W = 1,
    parameter int Stages = 2
) (
    input logic clk_i,
    input logic [W-1:0] data_i,
    output logic [W-1:0] data_o
);
  logic [Stages-1:0][W-1:0] stage_q;
  logic [W-1:0] before_q;
  logic [W-1:0] taken;
  logic [W-1:0] chance;  // driven by nothing: free at each step (used once, because it becomes an x)

  always_ff @(posedge u_clocks.step_i) before_q <= data_i;
  assign taken = data_i ^ ((data_i ^ before_q) & chance);
  always_ff @(posedge clk_i) stage_q <= {stage_q[Stages-2:0], taken};
  assign data_o = stage_q[Stages-1];
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// Two clocks of any ratio and phase: at each step of `step_i` either, both or none has an edge, freely.
module two_clocks (
    input  logic step_i,
    input  logic in_edge_i,
    input  logic out_edge_i,
    output logic in_clk_o,
    output logic out_clk_o
);
  // Clock gates, which Yosys turns into enables: one step is one edge.
  logic in_on, out_on;
  always_latch if (!step_i) in_on = in_edge_i;
  always_latch if (!step_i) out_on = out_edge_i;
  assign in_clk_o  = step_i & in_on;
  assign out_clk_o = step_i & out_on;
endmodule

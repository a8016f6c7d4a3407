// SPDX-License-Identifier: MIT OR Apache-2.0
// A node of `sync_tree`: it combines its children's arrivals upwards and passes the release downwards.
//
// Handshake  a barrier is a change of a bit, the phase. Upwards: the phase that all children with a member show, held
//            until they all show the other; `member_o`: one child has a member. Downwards: the root's phase, as it
//            comes from above. A node without a member shows the phase from above, so a member that joins it has not
//            arrived.
// Latency    1 cycle each way.
// Reset      phase 0 everywhere.
// busy_o     low when an edge would change nothing.
// Source     Muller's C-element, clocked.
module sync_node #(
    parameter int Radix  = 4,  // children, >= 1
    parameter int Groups = 2   // >= 1
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [Radix-1:0][Groups-1:0] member_i,
    input logic [Radix-1:0][Groups-1:0] phase_i,
    output logic [Groups-1:0] member_o,
    output logic [Groups-1:0] phase_o,
    input logic [Groups-1:0] down_i,
    output logic [Groups-1:0] down_o
);
  if (Radix < 1) begin : gen_bad_radix
    sync_node_Radix_must_be_at_least_1 u_bad ();
  end
  if (Groups < 1) begin : gen_bad_groups
    sync_node_Groups_must_be_at_least_1 u_bad ();
  end

  logic [Groups-1:0] some, ones, zeros, phase_d;

  always_comb begin
    some  = '0;
    ones  = '1;
    zeros = '1;
    for (int i = 0; i < Radix; i++) begin
      some |= member_i[i];
      ones &= phase_i[i] | ~member_i[i];
      zeros &= ~phase_i[i] | ~member_i[i];
    end
  end
  assign phase_d = (some & (ones | (phase_o & ~zeros))) | (~some & down_i);
  assign busy_o  = {some, phase_d, down_i} != {member_o, phase_o, down_o};

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      member_o <= '0;
      phase_o  <= '0;
      down_o   <= '0;
    end else begin
      member_o <= some;
      phase_o  <= phase_d;
      down_o   <= down_i;
    end
  end
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// Barriers of many cells: a tree that gathers arrivals and spreads the release, for several groups independently.
//
// Handshake  per cell and group. `member_i`: the cell takes part. `arrive_i`: a pulse, the cell is at the barrier.
//            `waiting_o` is high until all members have arrived. `release_o`: a pulse at all members in the same cycle.
//            From that cycle on a cell may arrive again; no arrival is lost, nor counted for the barrier before.
// Latency    from the last arrival to the release 2 * Levels + 2 cycles, Levels = log Radix (Cells), rounded up, at
//            least 1.
// Misuse     `arrive_i` of a cell that is no member, or that waits, does nothing. `member_i` of a group may change
//            while none of its cells waits and `busy_o` is low, up to the cycle of the first arrival. A change at
//            another time may open a barrier for the cells that have arrived.
// Reset      no cell waits.
// busy_o     low: nothing changes until an input changes. (Cells may wait.)
// Source     a tree of C-elements. AP1000's S-net is a tree; more of it is not published.
module sync_tree #(
    parameter int Cells  = 16,  // >= 1
    parameter int Groups = 2,   // >= 1
    parameter int Radix  = 4    // children of a node, power of two, >= 2
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [Cells-1:0][Groups-1:0] member_i,
    input logic [Cells-1:0][Groups-1:0] arrive_i,
    output logic [Cells-1:0][Groups-1:0] waiting_o,
    output logic [Cells-1:0][Groups-1:0] release_o
);
  // Node 0 is the root; the children of p are Radix * p + 1 and the nodes after it; the cells come last.
  localparam int RadixW = $clog2(Radix);
  localparam int Levels = (Cells > 1) ? ($clog2(Cells) + RadixW - 1) / RadixW : 1;
  localparam int Leaves = Radix ** Levels;
  localparam int Inner = (Leaves - 1) / (Radix - 1);

  if (Cells < 1) begin : gen_bad_cells
    sync_tree_Cells_must_be_at_least_1 u_bad ();
  end
  if (Groups < 1) begin : gen_bad_groups
    sync_tree_Groups_must_be_at_least_1 u_bad ();
  end
  if (Radix < 2 || (1 << RadixW) != Radix) begin : gen_bad_radix
    sync_tree_Radix_must_be_a_power_of_two_and_at_least_2 u_bad ();
  end

  // The state that each node shows to the one above, and the phase that comes down from it.
  logic [Inner+Leaves-1:0][Groups-1:0] member, phase;
  logic [Inner-1:0][Groups-1:0] down, above;
  logic [Inner+Cells-1:0] busy;
  logic [Groups-1:0] unused_root;
  assign busy_o = busy != '0;
  assign unused_root = member[0];

  for (genvar p = 0; p < Inner; p++) begin : gen_node
    assign above[p] = (p == 0) ? phase[0] : down[(p-1)/Radix];

    sync_node #(
        .Radix (Radix),
        .Groups(Groups)
    ) u_node (
        .clk_i,
        .rst_i,
        .busy_o  (busy[p]),
        .member_i(member[Radix*p+1+:Radix]),
        .phase_i (phase[Radix*p+1+:Radix]),
        .member_o(member[p]),
        .phase_o (phase[p]),
        .down_i  (above[p]),
        .down_o  (down[p])
    );
  end

  for (genvar i = 0; i < Cells; i++) begin : gen_cell
    logic [Groups-1:0] member_q, waiting_q, release_q, down_q, from_above, opens;

    // A waiting cell already shows the next phase; the release makes it the present one.
    assign from_above = down[(Inner+i-1)/Radix];
    assign opens = from_above ^ down_q;
    always_ff @(posedge clk_i) begin
      member_q <= member_i[i];
      if (rst_i) begin
        waiting_q <= '0;
        release_q <= '0;
        down_q <= '0;
      end else begin
        waiting_q <= member_i[i] & ((waiting_q & ~opens) | (~waiting_q & arrive_i[i]));
        release_q <= waiting_q & opens;
        down_q <= from_above;
      end
    end
    assign member[Inner+i] = member_q;
    assign phase[Inner+i] = down_q ^ waiting_q;
    assign busy[Inner+i] = (opens | release_q) != '0;
    assign waiting_o[i] = waiting_q;
    assign release_o[i] = release_q;
  end
  for (genvar i = Cells; i < Leaves; i++) begin : gen_none
    assign member[Inner+i] = '0;
    assign phase[Inner+i]  = '0;
  end
endmodule

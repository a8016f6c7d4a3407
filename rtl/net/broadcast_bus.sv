// SPDX-License-Identifier: MIT OR Apache-2.0
// One bus of many cells: it sends packets of one cell at a time to all cells, itself included, each exactly once and in
// the same order everywhere.
//
// Purpose    a tree of `stream_merge` gathers the cells' packets; the root's words go to all cells.
// Handshake  valid/ready/data/last streams, one in and one out per cell. The output is one word for all cells that have
//            yet to take it. A packet stays whole.
// Fairness   at each node of the tree the least recently served child goes first. With Levels nodes on its way, the
//            first packet of a stream is passed over by at most (Radix + 2) ^ Levels others.
// Latency    from a cell to all: 1 cycle, and 1 or 2 a level. 1 word per CyclesPerWord, no bubble between packets that
//            wait.
// Full       a cell that does not take its words stops the bus. Every cell must take broadcasts, whatever else it waits
//            for.
// Misuse     a cell that pauses inside its packet holds up the bus.
// Reset      empties it, in mid-packet too.
// busy_o     low when nothing is inside.
// Source     AP1000's B-net is a common bus and a ring; this gives the same words, not the same timing.
module broadcast_bus #(
    parameter int Cells = 16,  // >= 1
    parameter int W = 32,  // bits of a word, >= 1
    parameter int Radix = 4,  // children of a node, power of two, >= 2
    parameter int CyclesPerWord = 1  // of the bus, >= 1
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [Cells-1:0] in_valid_i,
    output logic [Cells-1:0] in_ready_o,
    input logic [Cells-1:0][W-1:0] in_data_i,
    input logic [Cells-1:0] in_last_i,
    output logic [Cells-1:0] out_valid_o,
    input logic [Cells-1:0] out_ready_i,
    output logic [W-1:0] out_data_o,
    output logic out_last_o
);
  // Node 0 is the root; the children of p are Radix * p + 1 and the nodes after it; the cells come last.
  localparam int RadixW = $clog2(Radix);
  localparam int Levels = (Cells > 1) ? ($clog2(Cells) + RadixW - 1) / RadixW : 1;
  localparam int Leaves = Radix ** Levels;
  localparam int Inner = (Leaves - 1) / (Radix - 1);

  if (Cells < 1) begin : gen_bad_cells
    broadcast_bus_Cells_must_be_at_least_1 u_bad ();
  end
  if (Radix < 2 || (1 << RadixW) != Radix) begin : gen_bad_radix
    broadcast_bus_Radix_must_be_a_power_of_two_and_at_least_2 u_bad ();
  end
  if (CyclesPerWord < 1) begin : gen_bad_pace
    broadcast_bus_CyclesPerWord_must_be_at_least_1 u_bad ();
  end

  logic [Inner+Leaves-1:0] valid, ready, last;
  logic [Inner+Leaves-1:0][W-1:0] data;
  logic [Inner-1:0] busy;

  for (genvar p = 0; p < Inner; p++) begin : gen_node
    logic [Radix-1:0] unused_from;

    stream_merge #(
        .N(Radix),
        .W(W)
    ) u_merge (
        .clk_i,
        .rst_i,
        .busy_o     (busy[p]),
        .in_valid_i (valid[Radix*p+1+:Radix]),
        .in_ready_o (ready[Radix*p+1+:Radix]),
        .in_data_i  (data[Radix*p+1+:Radix]),
        .in_last_i  (last[Radix*p+1+:Radix]),
        .out_valid_o(valid[p]),
        .out_ready_i(ready[p]),
        .out_data_o (data[p]),
        .out_last_o (last[p]),
        .out_from_o (unused_from)
    );
  end

  assign valid[Inner+:Cells] = in_valid_i;
  assign data[Inner+:Cells] = in_data_i;
  assign last[Inner+:Cells] = in_last_i;
  assign in_ready_o = ready[Inner+:Cells];
  if (Leaves > Cells) begin : gen_none
    logic unused;
    assign unused = ready[Inner+Cells+:Leaves-Cells] != '0;
    assign valid[Inner+Cells+:Leaves-Cells] = '0;
    assign data[Inner+Cells+:Leaves-Cells] = '0;
    assign last[Inner+Cells+:Leaves-Cells] = '0;
  end

  // The word on the bus, and the cells that have yet to take it. The next word follows in the cycle in which the last
  // cell takes it.
  logic [Cells-1:0] left_q, left;
  logic move, pause;
  assign left = left_q & ~out_ready_i;
  assign ready[0] = left == '0 && !pause;
  assign move = valid[0] && ready[0];
  always_ff @(posedge clk_i) begin
    if (move) {out_last_o, out_data_o} <= {last[0], data[0]};
    if (rst_i) left_q <= '0;
    else left_q <= move ? '1 : left;
  end
  assign out_valid_o = left_q;

  if (CyclesPerWord > 1) begin : gen_pace
    localparam int PauseW = $clog2(CyclesPerWord);
    logic [PauseW-1:0] pause_q;
    assign pause = pause_q != '0;
    always_ff @(posedge clk_i) begin
      if (rst_i) pause_q <= '0;
      else if (move) pause_q <= PauseW'(CyclesPerWord - 1);
      else if (pause) pause_q <= pause_q - PauseW'(1);
    end
  end else begin : gen_full
    assign pause = 1'b0;
  end

  assign busy_o = busy != '0 || out_valid_o != '0 || pause;
endmodule

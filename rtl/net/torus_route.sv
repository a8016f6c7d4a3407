// SPDX-License-Identifier: MIT OR Apache-2.0
// Routing function of a torus router, by a packet's first word: X before Y.
//
// Handshake  combinational. Inputs are a first word's low 19 bits, its virtual channel {class, lane} and the router's
//            position. Results are the packet's outputs, over {-Y, +Y, -X, +X, cell}, and their lane. Without an output
//            the packet is to be drained. The cell's lane is 0, whatever lane_o says. first_i and last_i: the router is
//            at a ring's first or last cell. far_x_i and far_y_i: the last cell that is reached in + direction.
//            before_i: that cell is not below the router.
// Source     see torus_router; src/net/torus.rs is the same function. A packet that moves along a ring keeps its
//            direction, so only the entry into a ring selects the shorter way.
module torus_route #(
    parameter int Port   = 0,  // input port of the packet: 0 the cell, 1 +X, 2 -X, 3 +Y, 4 -Y
    parameter int CoordW = 8   // bits of a coordinate
) (
    input  logic [CoordW-1:0] x_i,
    input  logic [CoordW-1:0] y_i,
    input  logic [CoordW-1:0] far_x_i,
    input  logic [CoordW-1:0] far_y_i,
    input  logic [       1:0] first_i,   // over {Y, X}
    input  logic [       1:0] last_i,
    input  logic [       1:0] before_i,  // far is not below
    input  logic [      18:0] word_i,
    input  logic [       1:0] vc_i,
    output logic [       4:0] outs_o,
    output logic              lane_o
);
  localparam bit AlongX = Port == 1 || Port == 2;
  localparam bit AlongY = Port == 3 || Port == 4;
  localparam bit Up = Port == 2 || Port == 4;  // moves in + direction

  logic [7:0] to_x, to_y;
  logic row, column, sweeps;
  logic above_x, above_y, here_x, here_y, up_x, up_y, beyond_x, beyond_y, wrong;

  assign {column, row, to_y, to_x} = word_i[17:0];
  // a > b, in LUTs: shorter than a carry chain for so few bits.
  function automatic logic above(input logic [7:0] a, input logic [7:0] b);
    above = 1'b0;
    for (int i = 0; i < 8; i++) above = a[i] == b[i] ? above : a[i];
  endfunction

  assign above_x  = above(to_x, 8'(x_i));
  assign above_y  = above(to_y, 8'(y_i));
  assign here_x   = to_x == 8'(x_i);
  assign here_y   = to_y == 8'(y_i);
  assign beyond_x = above_x && last_i[0];
  assign beyond_y = above_y && last_i[1];
  assign sweeps   = (AlongX ? row : AlongY) && (vc_i[0] || first_i[AlongY]);

  if (AlongX) begin : gen_keeps_x
    logic unused;
    assign unused = ^{far_x_i, before_i[0]};
    assign up_x   = Up;
  end else begin : gen_finds_x
    logic past;
    assign past = above(to_x, 8'(far_x_i));
    assign up_x = before_i[0] ? above_x && !past : above_x || !past;
  end
  if (AlongY) begin : gen_keeps_y
    logic unused;
    assign unused = ^{far_y_i, before_i[1]};
    assign up_y   = Up;
  end else begin : gen_finds_y
    logic past;
    assign past = above(to_y, 8'(far_y_i));
    assign up_y = before_i[1] ? above_y && !past : above_y || !past;
  end

  // On a port, or in a class, that no correct packet of this kind uses.
  always_comb begin
    wrong = word_i[18] != vc_i[1] || (vc_i[1] && (row || column)) || (row && column);
    if (Port == 1 || AlongY) wrong = wrong || row;
    if (Port == 3) wrong = wrong || column;
    if (AlongY) wrong = wrong || !here_x;
  end

  always_comb begin
    outs_o = '0;
    lane_o = 1'b0;
    if (wrong) begin
      outs_o = '0;
    end else if (row || (column && here_x)) begin
      outs_o[0] = sweeps;
      outs_o[1] = row && !(sweeps && last_i[0]);
      outs_o[3] = column && !(sweeps && last_i[1]);
      lane_o = sweeps;
    end else if (!AlongY && !here_x) begin
      outs_o[1] = !beyond_x && up_x;
      outs_o[2] = !beyond_x && !up_x;
      lane_o = up_x == above_x;
    end else begin
      outs_o[0] = here_y && Port != 0;
      outs_o[3] = !here_y && !beyond_y && up_y;
      outs_o[4] = !here_y && !beyond_y && !up_y;
      lane_o = up_y == above_y;
    end
  end
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_command: one axis of a relative cell. Is it in the torus, and in the range that a user
// may send to?
//
// Handshake  none: `distance_i` may change every cycle; the other inputs are quasi-static.
// Latency    3 cycles.
// Meaning    `torus_o`: -size < distance < size. `range_o`: the cell lies within low..high, whichever way round the
//            torus its distance was given: distance, distance - size or distance + size is in low..high.
// Misuse     with a size of 0 no cell is in the torus. With low above high none is in the range.
// Source     range register of relative cells: the machine's Linux port; that a cell has one meaning however it is
//            written: ours.
module ap1000p_cell_check (
    input logic clk_i,
    input logic [7:0] distance_i,  // cells, signed
    input logic [7:0] size_i,  // cells of the torus along the axis, 1 to 128
    input logic [7:0] low_i,  // signed
    input logic [7:0] high_i,  // signed
    output logic torus_o,
    output logic range_o
);
  logic signed [9:0] here_q, less_q, more_q;  // the distance; a turn less; a turn more
  logic signed [9:0] low, high;
  logic [2:0] from_low_q, to_high_q;
  logic negative_q, positive_q;
  assign low  = 10'($signed(low_i));
  assign high = 10'($signed(high_i));

  always_ff @(posedge clk_i) begin
    here_q <= 10'($signed(distance_i));
    less_q <= 10'($signed(distance_i)) - 10'(size_i);
    more_q <= 10'($signed(distance_i)) + 10'(size_i);
    negative_q <= less_q < 10'sd0;
    positive_q <= more_q > 10'sd0;
    from_low_q <= {here_q >= low, less_q >= low, more_q >= low};
    to_high_q <= {here_q <= high, less_q <= high, more_q <= high};
    torus_o <= negative_q && positive_q;
    range_o <= (from_low_q & to_high_q) != '0;
  end
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// EM-4/EM-X, places in the network: row and column of a PE. PE 5 * loop + column stands in that column.
package emx_place_pkg;
  // The loop's bits, shifted left by one bit for each column; the loops of five PEs have none in common.
  function automatic logic [3:0] row_of(input logic [2:0] row_bits, input logic [3:0] on, input logic [2:0] column);
    logic [7:0] bits;
    logic unused_bits;
    bits = {on, row_bits == 3'd4 ? {^on, on[3:1]} : {on[1] ^ on[0], on[1:0], on[1]}} << column;
    unused_bits = ^bits[3:0];
    row_of = row_bits == 3'd4 ? bits[7:4] : row_bits == 3'd2 ? {2'd0, bits[5:4]} : 4'd0;
  endfunction

  // {row, column} of a PE's number; a number that is none has some place.
  function automatic logic [6:0] place_of(input logic [2:0] row_bits, input logic [9:0] pe);
    logic [3:0] on, rest;
    logic unused_bits;
    unused_bits = ^pe[9:7];
    // Division by five, bit by bit: the rest is below five before each, so a small table makes the step.
    on = '0;
    rest = {1'b0, pe[6:4]};
    for (int i = 3; i >= 0; i--) begin
      rest  = {rest[2:0], pe[i]};
      on[i] = rest >= 4'd5;
      case (rest)
        4'd5: rest = 4'd0;
        4'd6: rest = 4'd1;
        4'd7: rest = 4'd2;
        4'd8: rest = 4'd3;
        4'd9: rest = 4'd4;
        default: ;
      endcase
    end
    place_of = {row_of(row_bits, on, rest[2:0]), rest[2:0]};
  endfunction
endpackage

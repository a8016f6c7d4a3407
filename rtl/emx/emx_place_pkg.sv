// EM-4/EM-X, places in the network: row and column of a PE. PE 5 * loop + column stands in that column.
package emx_place_pkg;
  // The loop's bits, shifted left by one bit for each column; the loops of five PEs have none in common.
  function automatic logic [3:0] row_of(input logic [2:0] row_bits, input logic [3:0] on, input logic [2:0] column);
    logic [7:0] bits;
    logic unused_bits;
    bits = {on, row_bits == 3'd4 ? {^on, on[3:1]} : {on[1] ^ on[0], on[1:0], on[1]}};
    bits = bits >> (3'd4 - column);
    unused_bits = ^bits[7:4];
    row_of = row_bits == 3'd4 ? bits[3:0] : row_bits == 3'd2 ? {2'd0, bits[1:0]} : 4'd0;
  endfunction

  // {row, column} of a PE's number; a number that is none has some place.
  function automatic logic [6:0] place_of(input logic [2:0] row_bits, input logic [9:0] pe);
    logic [3:0] on;
    logic [2:0] column;
    on = '0;
    column = 3'(pe);
    for (int i = 1; i < 16; i++) begin
      if (i < (1 << row_bits) && int'(pe) >= emx_pkg::SizeColumns * i) begin
        on = 4'(i);
        column = 3'(pe - 10'(emx_pkg::SizeColumns * i));
      end
    end
    place_of = {row_of(row_bits, on, column), column};
  endfunction
endpackage

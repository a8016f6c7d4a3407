// Says when a clock domain's state no longer changes by itself, so that a simulator may skip its clock.
//
// `busy_i` is high while something moves or is offered; `busy_o` (a flip-flop) follows and stays for `tail_i` cycles, long
// enough for what has left through a crossing to be seen by the other domain (32 cycles: clocks within a factor of 4, and a
// synchroniser that misses a cycle), and for 63 cycles after reset, in which asynchronous FIFOs open. When it is low, a clock edge with no valid input changes nothing.
// Source     ours; no part of the machine.
module cenju3_busy (
    input logic clk_i,
    input logic rst_i,
    input logic busy_i,
    input logic [8:0] tail_i,  // cycles, >= 1
    output logic busy_o
);
  logic [8:0] left_q, left_d;
  always_comb begin
    left_d = left_q;
    if (busy_i) left_d = tail_i;
    else if (left_q != '0) left_d = left_q - 9'd1;
    if (rst_i) left_d = 9'd63;
  end
  always_ff @(posedge clk_i) begin
    left_q <= left_d;
    busy_o <= left_d != '0;
  end
endmodule

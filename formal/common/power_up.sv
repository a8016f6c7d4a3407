// SPDX-License-Identifier: MIT OR Apache-2.0
// Before any claim there was a reset: the first edge finds `rst_i` high. Later resets are free.
module power_up (
    input logic clk_i,
    input logic rst_i
);
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always_ff @(posedge clk_i)
    if (!started_q) begin
      reset_first : assume (rst_i);
    end
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// A proof's record: a queue of words, the oldest in sight. A word that enters the empty queue is in sight from the next
// cycle on.
module queue #(
    parameter int W = 8,
    parameter int Depth = 4,  // a power of two
    localparam int PtrW = $clog2(Depth)
) (
    input logic clk_i,
    input logic rst_i,
    input logic push_i,
    input logic [W-1:0] data_i,
    input logic pop_i,
    output logic [PtrW:0] count_o,
    output logic [W-1:0] oldest_o
);
  logic [W-1:0] mem_q[Depth];
  logic [PtrW:0] wr_q, rd_q;
  always_ff @(posedge clk_i) begin
    if (push_i) mem_q[wr_q[PtrW-1:0]] <= data_i;
    wr_q <= rst_i ? '0 : wr_q + (PtrW + 1)'(push_i);
    rd_q <= rst_i ? '0 : rd_q + (PtrW + 1)'(pop_i);
  end
  assign count_o  = wr_q - rd_q;
  assign oldest_o = mem_q[rd_q[PtrW-1:0]];

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      remembered : assert (int'(count_o) <= Depth);
    end
  end
endmodule

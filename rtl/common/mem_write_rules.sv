// SPDX-License-Identifier: MIT OR Apache-2.0
// Rule of a memory's write side: a response only for a complete burst of data. A checker, it drives nothing.
//
// Purpose    a block that writes states with it, under TSUNAGI_ASSERT, its expectation of the memory. A proof (formal/)
//            takes the same rule as an assumption about the memory (Assume = 1). `axi_window` states it of its window,
//            for which each access is a burst of one word.
// Handshake  watches data beats and responses.
// Latency    a response that breaks the rule is reported at the edge at which it is offered.
// Reset      forgets the written bursts; nothing is checked while `rst_i` is high.
// Misuse     2**16 bursts that await their response look like none.
// Source     AXI4's rule for one ID.
module mem_write_rules #(
    parameter bit Assume = 1'b0  // in a proof: 1 takes the rule as given
) (
    input logic clk_i,
    input logic rst_i,
    input logic data_valid_i,
    input logic data_ready_i,
    input logic data_last_i,
    input logic rsp_valid_i,
    input logic rsp_ready_i
);
  logic [15:0] written_q;  // bursts
  logic due;
  assign due = !rsp_valid_i || written_q != '0;

  always_ff @(posedge clk_i) begin
    written_q <= written_q + 16'(data_valid_i && data_ready_i && data_last_i) - 16'(rsp_valid_i && rsp_ready_i);
    if (rst_i) written_q <= '0;
  end

  if (Assume) begin : gen_assume
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        burst_was_written : assume (due);
      end
  end else begin : gen_assert
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        burst_was_written : assert (due);
      end
  end
endmodule

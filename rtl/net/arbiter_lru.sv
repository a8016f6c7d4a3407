// SPDX-License-Identifier: MIT OR Apache-2.0
// Selects the least recently served of N requesters, in the same cycle.
//
// Handshake  `first_o`: at most one of `request_i`, none if an older one of `block_i` stands in its way. `served_i`:
//            who was served at this edge. Requesters block, too: `block_i` contains `request_i`.
// Latency    none: `first_o` is a function of `request_i`, `block_i` and flip-flops. It is a part of units, not a unit.
// Fairness   who waits is passed over by each other one at most once.
// Source     a matrix of ages, textbook.
module arbiter_lru #(
    parameter int N = 3  // 1 or more
) (
    /* verilator lint_off UNUSEDSIGNAL */  // with N = 1
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic [N-1:0] request_i,
    input  logic [N-1:0] block_i,
    input  logic [N-1:0] served_i,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic [N-1:0] first_o
);
  // older[i][j]: j was served longer ago than i.
  logic [N-1:0][N-1:0] older;
  for (genvar i = 0; i < N; i++) begin : gen_row
    assign older[i][i] = 1'b0;
    for (genvar j = 0; j < i; j++) begin : gen_pair
      logic older_q;
      always_ff @(posedge clk_i) begin
        if (rst_i) older_q <= 1'b1;
        else if (served_i[i]) older_q <= 1'b1;
        else if (served_i[j]) older_q <= 1'b0;
      end
      assign older[i][j] = older_q;
      assign older[j][i] = !older_q;
    end
    assign first_o[i] = request_i[i] && (block_i & older[i]) == '0;
  end
endmodule

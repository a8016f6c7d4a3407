// SPDX-License-Identifier: MIT OR Apache-2.0
// Round-robin arbiter with a registered one-hot grant, held until its holder is done.
//
// Handshake  a client holds `req_i[i]` until granted. `grant_o` is one-hot or zero, straight from flip-flops. While a
//            grant stands and `advance_i` is low, nothing changes (lock: a wormhole holds it for its packet). With
//            `advance_i` high, or with no grant, the arbiter selects the next grant from `req_i` of that cycle. So in
//            the last cycle of a hold, the holder shows with `req_i` whether it wants another turn.
// Latency    1 cycle from request to grant; with `advance_i` held high a new grant every cycle.
// Fairness   the search starts after the last granted index: a waiting request is passed over at most N-1 times.
// Reset      no grant; index 0 is first in line.
// Source     common practice; masked priority rather than rotation (fewer levels of logic).
module arbiter_rr #(
    parameter int N = 4  // requesters, >= 1
) (
    input logic clk_i,
    input logic rst_i,
    input logic [N-1:0] req_i,
    input logic advance_i,
    output logic [N-1:0] grant_o
);
  if (N < 1) begin : gen_bad_n
    arbiter_rr_N_must_be_at_least_1 u_bad ();
  end

  logic [N-1:0] grant_q, after_q;  // after_q: indices above the last granted one
  logic [N-1:0] later, pick;

  assign later = req_i & after_q;
  // x & -x is the lowest set bit.
  assign pick  = (later != '0) ? (later & (~later + N'(1))) : (req_i & (~req_i + N'(1)));

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      grant_q <= '0;
      after_q <= '1;
    end else if (grant_q == '0 || advance_i) begin
      grant_q <= pick;
      if (pick != '0) after_q <= ~(pick | (pick - N'(1)));
    end
  end

  assign grant_o = grant_q;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert ((grant_q & (grant_q - N'(1))) == '0);
  end
`endif
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// Rule of a stream: an offer holds until it is taken. A checker, it drives nothing.
//
// Purpose    a block states with it, under TSUNAGI_ASSERT, its expectation of its source. A proof (formal/) takes the
//            same rule as an assumption about a source (Assume = 1), or proves it of an output (Assume = 0).
// Handshake  watches `valid`, `ready` and the payload as `data`.
// Latency    a word that was withdrawn or changed is reported at the next edge.
// Reset      an offer may be withdrawn; nothing is checked while `rst_i` is high.
// Source     AXI4-Stream's rule.
module stream_rules #(
    parameter int W = 32,  // bits of `data`, >= 1
    parameter bit Assume = 1'b0  // in a proof: 1 takes the rule as given
) (
    input logic clk_i,
    input logic rst_i,
    input logic valid_i,
    input logic ready_i,
    input logic [W-1:0] data_i
);
  if (W < 1) begin : gen_bad_w
    stream_rules_W_must_be_at_least_1 u_bad ();
  end

  logic waiting_q, held;
  logic [W-1:0] offer_q;  // not $past: a simulator may sample it before inputs that change with the clock
  always_ff @(posedge clk_i) begin
    waiting_q <= valid_i && !ready_i && !rst_i;
    offer_q   <= data_i;
  end
  assign held = !waiting_q || (valid_i && data_i == offer_q);

  if (Assume) begin : gen_assume
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        offer_holds : assume (held);
      end
  end else begin : gen_assert
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        offer_holds : assert (held);
      end
  end
endmodule

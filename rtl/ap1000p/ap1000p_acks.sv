// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, acknowledge counter: the remote stores that are issued and not acknowledged. At 0 all are performed.
//
// Handshake  none: `issue_i` and `ack_i` each count in every cycle in which they are high.
// Count      +1 for an issue, -1 for an acknowledgement, unchanged for both.
// Latency    1 cycle.
// Full       `full_o`: the count is at its greatest, and the issuer must wait. An issue then, without an
//            acknowledgement, is not counted.
// Misuse     `over_o` pulses for such an issue, `under_o` for an acknowledgement at 0. No store can have asked for the
//            latter, so it is not counted either, not even beside an issue. The count never wraps. After `over_o` it is
//            too small.
// Reset      0.
// Source     the counter and its two steps: paper 2.2.6. The paper does not say which chip has it; both events are in
//            the MSC+. What happens at its ends: own guess.
module ap1000p_acks #(
    parameter int W = 16  // bits of the count
) (
    input logic clk_i,
    input logic rst_i,
    input logic issue_i,
    input logic ack_i,
    output logic [W-1:0] count_o,
    output logic full_o,
    output logic over_o,
    output logic under_o
);
  if (W < 1) begin : gen_bad_w
    ap1000p_acks_W_must_be_at_least_1 u_bad ();
  end

  logic none, over, under, up, down;
  assign none = count_o == '0;
  assign full_o = count_o == '1;
  assign under = ack_i && none;
  assign over = issue_i && full_o && !ack_i;
  assign up = issue_i && !over;
  assign down = ack_i && !under;

  always_ff @(posedge clk_i) begin
    if (rst_i) count_o <= '0;
    else if (up != down) count_o <= count_o + (down ? '1 : W'(1));
    over_o  <= over && !rst_i;
    under_o <= under && !rst_i;
  end
endmodule

// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_queue_ram: selects the queue of a class that gives the next message, in a fixed order
// with a cap on how often a queue is passed over.
//
// Handshake  `pick_o` (one-hot, or zero without a request) is selected from `more_i` now; `take_i` confirms it.
// Latency    none: combinational from `more_i`, which the caller derives from flip-flops.
// Order      from bit 0 on. A queue that was passed over AgeCap times while it had a message is old, and goes before
//            the others. So none is passed over more than AgeCap + N - 1 times. (With an AgeCap below N - 1, one that
//            was selected would be old again before the other old ones had their turn.)
// Reset      forgets how often each was passed over.
// Source     cap: own guess.
module ap1000p_queue_arbiter #(
    parameter int N = 3,  // queues, 2 to 5
    parameter int AgeCap = 16  // messages, 4 to 255
) (
    input logic clk_i,
    input logic rst_i,
    input logic [N-1:0] more_i,
    input logic take_i,
    output logic [N-1:0] pick_o
);
  localparam int AgeW = $clog2(AgeCap + 1);

  if (N < 2 || N > 5) begin : gen_bad_n
    ap1000p_queue_arbiter_N_must_be_2_to_5 u_bad ();
  end
  if (AgeCap < 4 || AgeCap > 255) begin : gen_bad_cap
    ap1000p_queue_arbiter_AgeCap_must_be_4_to_255 u_bad ();
  end

  logic [N-1:0] old_q, from;
  assign from   = (more_i & old_q) != '0 ? more_i & old_q : more_i;
  assign pick_o = from & (~from + N'(1));

  for (genvar q = 0; q < N; q++) begin : gen_age
    logic [AgeW-1:0] left_q;  // times that it may still be passed over
    assign old_q[q] = left_q == '0;
    always_ff @(posedge clk_i) begin
      if (rst_i || (take_i && pick_o[q])) left_q <= AgeW'(AgeCap);
      else if (take_i && more_i[q] && pick_o != '0 && left_q != '0) left_q <= left_q - AgeW'(1);
    end
  end
endmodule
